"""The guard for `mindspore.train.Model`."""

from typing import Any

from mindspore.train import Callback

from ...policies.errors import InputError
from .training import GuardedTraining


class GuardCallback(Callback):
    """Schedule and guard of a training that MindSpore's Model runs on the training's own `train_step`.

        guarded = GuardedTraining(network, loss, optimizer, schedule)
        Model(guarded.train_step, amp_level="O0").train(
            5, dataset, callbacks=[GuardCallback(guarded)], dataset_sink_mode=False)

    Put it before other callbacks: where a step is repeated, they then see what came of it in the end.
    """

    def __init__(self, guarded: GuardedTraining) -> None:
        """One callback for one training."""
        super().__init__()
        self._guarded = guarded

    def on_train_begin(self, run_context: Any) -> None:
        """Check how the Model was set up.

        Raises:
            InputError: it trains another Cell, or many steps in one call.
        """
        arguments = run_context.original_args()
        if arguments.train_network is not self._guarded.train_step:
            raise InputError("the Model must train the guarded training's own step: Model(guarded.train_step)")
        if arguments.dataset_sink_mode:
            raise InputError(
                "with dataset_sink_mode=True the guard would see one step of each epoch; "
                "call train with dataset_sink_mode=False"
            )

    def on_train_step_begin(self, run_context: Any) -> None:
        """A phase may begin, or a change be taken back."""
        self._guarded.begin()

    def on_train_step_end(self, run_context: Any) -> None:
        """Look at what came of the step, and repeat it if the policy had to change."""
        arguments = run_context.original_args()
        arguments.net_outputs = self._guarded.settle(arguments.net_outputs, arguments.train_dataset_element)
