"""What a user brings: a network, its data and how good is measured."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import mindspore.nn as nn
import numpy as np

from ..policies.errors import InputError
from .outcome import Metric


class Batch(NamedTuple):
    """One batch: what the network gets, and what the loss gets beside the network's outputs."""

    inputs: tuple[np.ndarray, ...]
    labels: tuple[np.ndarray, ...]

    @property
    def size(self) -> int:
        """Number of samples: the length of the first input's first axis."""
        return len(self.inputs[0])


class Workload(ABC):
    """A training job to find a policy for; name a function that returns one as `my_module:make_workload`.

    `trial_steps` is how long a trial trains, `full_steps` the real training length; a trial is at most a
    tenth of it. Everything random comes from the seed that halfwise sets before it calls `network`, or
    from the seed handed to `batches`, so that two trials of one policy are equal.
    """

    name: str
    metric: Metric
    batch_size: int
    trial_steps: int
    full_steps: int

    @abstractmethod
    def network(self) -> nn.Cell:
        """A fresh network with fresh weights."""

    @abstractmethod
    def loss(self) -> nn.Cell:
        """A Cell called as `loss(outputs, *labels)`; `outputs` is what the network returns, in float32."""

    @abstractmethod
    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """The optimizer over the network's trainable parameters."""

    @abstractmethod
    def batches(self, seed: int) -> Iterator[Batch]:
        """Training batches of one shape without end, in an order that the seed decides."""

    @abstractmethod
    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The metric on held-out data; `predict(*inputs)` takes and gives NumPy arrays, floats in float32."""

    def sample_batch(self) -> Batch:
        """A batch to compile and to measure with."""
        return next(self.batches(seed=0))


def shuffled_batches(
    inputs: Sequence[np.ndarray], labels: Sequence[np.ndarray], batch_size: int, seed: int
) -> Iterator[Batch]:
    """Batches without end from arrays of one length, reshuffled each epoch; a partial last batch is left out.

    Raises:
        InputError: the batch is larger than the data, or empty.
    """
    samples = len(inputs[0])
    if not 1 <= batch_size <= samples:
        raise InputError(
            f"batch size {batch_size} does not fit the training data: it holds {samples} samples; "
            f"choose 1 to {samples}"
        )
    random = np.random.default_rng(seed)
    while True:
        order = random.permutation(samples)
        for start in range(0, samples - batch_size + 1, batch_size):
            rows = order[start : start + batch_size]
            yield Batch(tuple(a[rows] for a in inputs), tuple(a[rows] for a in labels))
