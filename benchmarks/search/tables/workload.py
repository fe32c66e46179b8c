"""What the tables' networks share as workloads: data in memory, mean squared error, Adam, explained variance."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from mindspore import nn

from halfwise.evaluators.outcome import Metric
from halfwise.evaluators.workload import Batch, Workload, shuffled_batches

TRAINING, HELD_OUT = 2048, 1024
SAMPLES = TRAINING + HELD_OUT


class TableWorkload(Workload):
    """A network that learns made-up targets (N, C) from made-up inputs; a subclass gives both, and the network.

    Quality is the share of the held-out targets' variance that is explained: the mean over targets, each at
    least 0.
    """

    metric = Metric("explained", "maximize")
    batch_size = 128
    trial_steps = 50
    full_steps = 500

    def __init__(self, name: str, inputs: Sequence[np.ndarray], targets: np.ndarray):
        self.name = name
        self.inputs = tuple(inputs)
        self.targets = targets.astype(np.float32)

    def loss(self) -> nn.Cell:
        """The mean squared error."""
        return nn.MSELoss()

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam."""
        return nn.Adam(parameters, learning_rate=1e-2)

    def batches(self, seed: int) -> Iterator[Batch]:
        """All inputs; targets."""
        inputs = [array[:TRAINING] for array in self.inputs]
        return shuffled_batches(inputs, [self.targets[:TRAINING]], self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The explained variance; see the class."""
        truth = self.targets[TRAINING:].astype(np.float64)
        errors = predict(*(array[TRAINING:] for array in self.inputs)).astype(np.float64) - truth
        return float(np.mean(np.maximum(1.0 - np.mean(errors**2, 0) / truth.var(0), 0.0)))


def standardised(*columns: np.ndarray) -> np.ndarray:
    """Columns (N,) as targets (N, C) of mean 0 and deviation 1."""
    targets = np.column_stack(columns)
    return (targets - targets.mean(0)) / targets.std(0)
