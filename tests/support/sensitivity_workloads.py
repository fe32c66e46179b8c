"""Workloads for tests of sensitivity: each with one known weakness."""

from collections.abc import Iterator

import numpy as np
from mindspore import nn, ops
from tiny_workloads import Tiny, TinyNet, points

from halfwise.evaluators.workload import Batch, Workload, shuffled_batches


class Clock(nn.Cell):
    """Takes the time off again that the samples carry."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return x - 5000.0


class ClockNet(TinyNet):
    """A TinyNet behind a Clock, with Dropout."""

    def __init__(self):
        super().__init__()
        self.clock = Clock()
        self.dropout = nn.Dropout(p=0.5)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(self.dropout(ops.relu(self.norm(self.first(self.clock(x))))))


class ClockWorkload(Tiny):
    """Its inputs lie around 5,000: float16 tells only every fourth number there."""

    def network(self) -> nn.Cell:
        """A ClockNet."""
        return ClockNet()

    def batches(self, seed: int) -> Iterator[Batch]:
        """Tiny's points, 5,000 further."""
        inputs, labels = points()
        return shuffled_batches([inputs + np.float32(5000)], [labels], self.batch_size, seed)


class UndefinedLoss(nn.Cell):
    """The square root of a negative number, in any precision."""

    def construct(self, outputs, labels):
        """NaN."""
        return ops.sqrt(-ops.exp(outputs.sum()))


class UndefinedWorkload(Tiny):
    """Cannot be trained in float32 either."""

    def loss(self) -> nn.Cell:
        """An UndefinedLoss."""
        return UndefinedLoss()


def make_clock() -> Workload:
    """A ClockWorkload."""
    return ClockWorkload()


def make_undefined() -> Workload:
    """An UndefinedWorkload."""
    return UndefinedWorkload()
