"""A workload from what a training script has already: functions that make its parts, and arrays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mindspore.nn as nn
import numpy as np

from ..policies.errors import InputError
from .outcome import Metric
from .workload import Batch, Workload, shuffled_batches

__all__ = ["ArrayWorkload", "Arrays", "Metric"]

Arrays = tuple[np.ndarray, np.ndarray]
"""What the network takes, (N, ...), and the label of each sample, (N, ...)."""


@dataclass(frozen=True)
class ArrayWorkload(Workload):
    """One input and one label a sample, all of them in memory; batches are drawn as `shuffled_batches` does.

    `make_network` takes nothing, `make_loss` nothing, `make_optimizer` the trainable parameters. `score` is called
    with what the network gives for the held-out inputs and with their labels, NumPy arrays, and gives `metric`.

    Raises:
        InputError: inputs and labels differ in number, or there are none.
    """

    name: str
    metric: Metric
    make_network: Callable[[], nn.Cell]
    make_loss: Callable[[], nn.Cell]
    make_optimizer: Callable[[Sequence[Any]], nn.Optimizer]
    training: Arrays
    held_out: Arrays
    score: Callable[[np.ndarray, np.ndarray], float]
    batch_size: int
    trial_steps: int
    full_steps: int

    def __post_init__(self) -> None:
        """Check the arrays."""
        for name, (inputs, labels) in (("training", self.training), ("held_out", self.held_out)):
            if not 0 < len(inputs) == len(labels):
                raise InputError(
                    f"workload {self.name!r}: {name} must hold as many inputs as labels, at least one of each, "
                    f"but got {len(inputs)} inputs and {len(labels)} labels"
                )

    def network(self) -> nn.Cell:
        """What `make_network` makes."""
        return self.make_network()

    def loss(self) -> nn.Cell:
        """What `make_loss` makes."""
        return self.make_loss()

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """What `make_optimizer` makes."""
        return self.make_optimizer(parameters)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Batches of the training arrays, reshuffled each epoch."""
        inputs, labels = self.training
        return shuffled_batches((inputs,), (labels,), self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The score of the held-out arrays."""
        inputs, labels = self.held_out
        return self.score(predict(inputs), labels)
