"""A workload for studies under faults: many policies, and trials of a second that leave the cores to others."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from mindspore import nn

from halfwise.evaluators.workload import Batch, Metric, Workload, shuffled_batches

# Wide enough for low precision to be priced faster, where launches cost nothing.
SAMPLES, WIDTH, LAYERS = 128, 32, 5
# Most of a trial: a process that is killed at a random moment is likely to have one under way.
REST_S = 0.5


class SteadyNet(nn.Cell):
    """Points (N, 32) to class scores (N, 2)."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(WIDTH, WIDTH) for _ in range(LAYERS)])
        self.head = nn.Dense(WIDTH, 2)

    def construct(self, x):
        """Layer by layer, each added to what goes in."""
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


class SteadyWorkload(Workload):
    """Tells on which side of a plane points lie."""

    name = "steady"
    metric = Metric("accuracy", "maximize")
    batch_size = 32
    trial_steps = 10
    full_steps = 100

    def __init__(self):
        self.inputs = np.random.default_rng(0).normal(size=(SAMPLES, WIDTH)).astype(np.float32)
        self.labels = (self.inputs.sum(1) > 0).astype(np.int32)

    def network(self) -> nn.Cell:
        """A SteadyNet."""
        return SteadyNet()

    def loss(self) -> nn.Cell:
        """Cross entropy."""
        return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam with a high rate: few steps must do."""
        return nn.Adam(parameters, learning_rate=0.01)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Batches of 32."""
        return shuffled_batches([self.inputs], [self.labels], self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """Share of the points on the right side, after a rest."""
        time.sleep(REST_S)
        return float((predict(self.inputs).argmax(1) == self.labels).mean())


def make_workload() -> SteadyWorkload:
    """What an experiment names."""
    return SteadyWorkload()
