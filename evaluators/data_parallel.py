"""The training step of one of several processes that train one network together, each on batches of its own."""

from typing import Any

import mindspore as ms
from mindspore import amp, nn, ops
from mindspore.communication import get_group_size

from .step import TrainStep


class DataParallelStep(TrainStep):
    """A TrainStep whose gradients and loss are the means over all processes, as if one had trained on all batches.

    The means are taken in float32, after the cast that every policy has before its update: half the bits would
    save traffic, and no policy asks for that. The finite check comes after them, so all processes skip the same
    updates and keep the same loss scale. Needs `mindspore.communication.init()`, and
    `set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)`, before; every process starts
    from the same weights.
    """

    def __init__(
        self, network: nn.Cell, loss: nn.Cell, optimizer: nn.Optimizer, scaler: amp.LossScaler, inputs: int
    ) -> None:
        """As for a TrainStep; the batches are those of this process."""
        super().__init__(network, loss, optimizer, scaler, inputs)
        self.processes = get_group_size()
        self.mean = nn.DistributedGradReducer(optimizer.parameters, True, self.processes)
        self.sum = ops.AllReduce()

    def construct(self, *data: Any):
        """One step; see TrainStep."""
        (_, loss), gradients = self.gradients(*data)
        gradients = self.mean(ops.mixed_precision_cast(ms.float32, gradients))
        return self._updated(self.sum(loss) / self.processes, gradients)
