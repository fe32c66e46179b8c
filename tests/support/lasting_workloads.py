"""Workloads that show how a training goes on: one with every kind of state, one that fails only late."""

from collections.abc import Iterator, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from tiny_workloads import Tiny, TinyNet

from halfwise.evaluators.workload import Batch


class NormedNet(TinyNet):
    """A TinyNet with statistics that training updates beside its weights."""

    def __init__(self):
        super().__init__()
        self.statistics = nn.BatchNorm1d(2)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return super().construct(self.statistics(x))


class StatefulWorkload(Tiny):
    """Moving statistics, Adam's moments, a learning rate that decays, and batches that draw from NumPy itself."""

    def network(self) -> nn.Cell:
        """A NormedNet."""
        return NormedNet()

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam, its rate by the step."""
        return nn.Adam(parameters, learning_rate=nn.ExponentialDecayLR(0.05, 0.9, 4))

    def batches(self, seed: int) -> Iterator[Batch]:
        """Tiny's batches with noise from NumPy's own random numbers."""
        for (inputs,), labels in super().batches(seed):
            noise = np.random.normal(scale=0.1, size=inputs.shape).astype(np.float32)
            yield Batch((inputs + noise,), labels)


class GrowingNet(TinyNet):
    """A TinyNet behind a product that grows with every training step, beyond float16's 65,504 at the 45th."""

    def __init__(self):
        super().__init__()
        self.grow = Growing()

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(self.norm(self.first(self.grow(x))))


class Growing(nn.Cell):
    """Multiplies by a power of 1.28 that grows by one in each training step, and divides again."""

    def __init__(self):
        super().__init__()
        self.power = ms.Parameter(ms.Tensor(1.0, ms.float32), name="power", requires_grad=False)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        if self.training:
            self.power = self.power * 1.28
        return (x + 3.0) * self.power / self.power


class GrowingWorkload(Tiny):
    """Trains in float16 for 40 steps; float32 trains on."""

    def network(self) -> nn.Cell:
        """A GrowingNet."""
        return GrowingNet()


make_stateful = StatefulWorkload
make_growing = GrowingWorkload
