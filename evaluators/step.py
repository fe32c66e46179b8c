"""The training step that every trial runs, as one Cell: what is compiled, timed and proven is one thing."""

from typing import Any

import mindspore as ms
from mindspore import amp, nn, ops


class TrainStep(nn.Cell):
    """Forward, loss, scaled gradients, finite check, unscale, update or skip.

    Called as `step(*inputs, *labels)`; returns three scalars: the unscaled loss in float32, whether the
    gradients were finite and the update was applied, and the loss scale that was used. The network's
    outputs, the loss and the gradients at the update are float32 whatever the policy says. An update whose
    gradients are not all finite is skipped, under every kind of loss scaling.

    It can be handed to `mindspore.train.Model(step)` (amp_level O0) as it is.
    """

    def __init__(
        self, network: nn.Cell, loss: nn.Cell, optimizer: nn.Optimizer, scaler: amp.LossScaler, inputs: int
    ) -> None:
        """`inputs` says how many of the step's arguments go to the network; the rest goes to the loss."""
        # Without a prefix of its own, the network's Parameters keep the names that the user knows.
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss = loss
        self.optimizer = optimizer
        self.scaler = scaler
        self.inputs = inputs
        self.gradients = ms.value_and_grad(self._scaled_loss, None, optimizer.parameters, has_aux=True)

    def construct(self, *data: Any):
        """One step; see the class."""
        (_, loss), gradients = self.gradients(*data)
        return self._updated(loss, ops.mixed_precision_cast(ms.float32, gradients))

    def _updated(self, loss: Any, gradients: Any):
        finite = amp.all_finite(gradients)
        # A copy: `adjust` writes the scaler's Parameter in place.
        scale = self.scaler.scale_value * 1.0
        if finite:
            self.optimizer(self.scaler.unscale(gradients))
        self.scaler.adjust(finite)
        return loss, finite, scale

    def _scaled_loss(self, *data: Any):
        outputs = ops.mixed_precision_cast(ms.float32, self.network(*data[: self.inputs]))
        loss = self.loss(outputs, *data[self.inputs :]).astype(ms.float32)
        return self.scaler.scale(loss), loss


class Predict(nn.Cell):
    """The network as an evaluation calls it: float outputs in float32, whatever the policy says."""

    def __init__(self, network: nn.Cell) -> None:
        """Wraps the network without renaming its Parameters."""
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, *inputs: Any):
        """The network's outputs in float32."""
        return ops.mixed_precision_cast(ms.float32, self.network(*inputs))
