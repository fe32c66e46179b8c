"""Workloads for tests of quality: metrics that run the other way or say nothing, and data that are dirty."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from mindspore import nn
from tiny_workloads import Tiny, points

from halfwise.evaluators.workload import Batch, Metric, Workload, shuffled_batches


class LowerIsBetter(Tiny):
    """Counts what is on the wrong side: less is better."""

    metric = Metric("error", "minimize")

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """One more than the share of points on the wrong side, so that a tolerance has something to relate to."""
        return 2.0 - super().evaluate(predict)


class Constant(Tiny):
    """Its metric never moves."""

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """Always a half."""
        return 0.5


class TwoValues(Tiny):
    """Its metric is two numbers."""

    def evaluate(self, predict: Callable[..., Any]) -> Any:
        """Accuracy and error."""
        accuracy = super().evaluate(predict)
        return accuracy, 1 - accuracy


class Dirty(Tiny):
    """Two values of the fourth batch are no numbers."""

    def batches(self, seed: int) -> Iterator[Batch]:
        """Tiny's, with NaN in two rows."""
        for number, batch in enumerate(super().batches(seed)):
            if number == 3:
                batch.inputs[0][5, 1] = batch.inputs[0][7, 0] = np.nan
            yield batch

    def network(self) -> nn.Cell:
        """Without ReLU, whose CPU kernel makes 0 of NaN."""
        return OneDense()


class OneDense(nn.Cell):
    """A network of one layer."""

    def __init__(self):
        super().__init__()
        self.only = nn.Dense(2, 2)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.only(x)


class OneGroup(Tiny):
    """There is one thing to decide, and it may go low."""

    def network(self) -> nn.Cell:
        """A OneDense."""
        return OneDense()


class Shrunk(OneDense):
    """A network of one layer whose values are a million times too large, and are made small again."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.only(x) * 1e-6


class NothingLow(Tiny):
    """Its values are beyond float16 before the first layer sees them."""

    def network(self) -> nn.Cell:
        """A Shrunk."""
        return Shrunk()

    def batches(self, seed: int) -> Iterator[Batch]:
        """Points times a million."""
        inputs, labels = points()
        return shuffled_batches([inputs * np.float32(1e6)], [labels], self.batch_size, seed)


make_lower: Callable[[], Workload] = LowerIsBetter
make_constant: Callable[[], Workload] = Constant
make_two_values: Callable[[], Workload] = TwoValues
make_dirty: Callable[[], Workload] = Dirty
make_one_group: Callable[[], Workload] = OneGroup
make_nothing_low: Callable[[], Workload] = NothingLow
