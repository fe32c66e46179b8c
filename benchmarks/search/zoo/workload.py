"""A zoo network as a halfwise workload, with its data, its loss and its truth."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from mindspore import nn

from halfwise.evaluators.outcome import Metric
from halfwise.evaluators.workload import Batch, Workload, shuffled_batches

from .kinds import COARSE_TARGET, VANISHING, Shape
from .lengths import BATCH_SIZE, FULL_STEPS, TRIAL_STEPS
from .network import OFFSET, ZooNetwork
from .plan import Plan, Truth, plan_zoo
from .sides import TABLE_ROWS, side_of

FEATURES, SHARED_TARGETS = 8, 4
_TRAINING, _HELD_OUT = 3072, 1024
_FAINT = 5e-6
# Nothing leads past a group of a chain: a step that is too long spoils all behind it.
_LEARNING_RATES = {"residual": 3e-3, "branched": 3e-3, "chain": 2e-3}


class ScaledSquares(nn.Cell):
    """The mean squared error times a factor, as units far from the targets' own make it."""

    def __init__(self, factor: float):
        super().__init__()
        self.squares = nn.MSELoss()
        self.factor = factor

    def construct(self, outputs, targets):
        """(N, C) and (N, C) to one number."""
        return self.squares(outputs, targets) * self.factor


class ZooWorkload(Workload):
    """A planned network that learns made-up targets from made-up data.

    The targets have mean 0 and deviation 1, or lie 3,000 higher for a head with that hazard: four hang on the
    features, one more on the own input of each graded hazard. Where gradients are to vanish the loss is 5e-6 of
    itself. All is meant for float16 with dynamic loss scaling from 65,536.
    """

    metric = Metric("explained", "maximize")
    batch_size = BATCH_SIZE
    trial_steps = TRIAL_STEPS
    full_steps = FULL_STEPS

    def __init__(self, plan: Plan):
        self.plan = plan
        self.name = plan.name
        random = np.random.default_rng(plan.seed)
        samples = _TRAINING + _HELD_OUT
        features = random.normal(size=(samples, FEATURES))
        sides = [side_of(kind, place, random, samples) for place, kind in enumerate(plan.kinds)]
        self.sides = {place: side for place, side in enumerate(sides) if side is not None}
        alone = [side.target for side in self.sides.values() if side.target is not None]
        targets = np.column_stack([_shared_targets(features, random), *alone])
        targets = (targets - targets.mean(0)) / targets.std(0)
        offset = OFFSET if COARSE_TARGET in plan.kinds else 0.0
        self.targets = (targets + offset).astype(np.float32)
        self.inputs = (features.astype(np.float32), *(side.values for side in self.sides.values()))

    @property
    def truth(self) -> Truth:
        """Which groups must, and which should, stay float32."""
        return self.plan.truth

    def network(self) -> nn.Cell:
        """The planned groups with fresh weights."""
        sizes = {place: _size(side.values) for place, side in self.sides.items()}
        return ZooNetwork(self.plan, FEATURES, self.targets.shape[1], sizes)

    def loss(self) -> nn.Cell:
        """The mean squared error, or a faint part of it."""
        return ScaledSquares(_FAINT if VANISHING in self.plan.kinds else 1.0)

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam, whose steps don't hang on the size of the loss."""
        return nn.Adam(parameters, learning_rate=_LEARNING_RATES[self.plan.shape], eps=1e-15)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Features and the groups' own inputs; targets."""
        rows = slice(_TRAINING)
        inputs = [array[rows] for array in self.inputs]
        return shuffled_batches(inputs, [self.targets[rows]], self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The share of the held-out targets' variance that is explained: mean over targets, each at least 0."""
        rows = slice(_TRAINING, None)
        truth = self.targets[rows].astype(np.float64)
        errors = predict(*(array[rows] for array in self.inputs)).astype(np.float64) - truth
        explained = 1.0 - np.mean(errors**2, 0) / truth.var(0)
        return float(np.mean(np.maximum(explained, 0.0)))


def _shared_targets(features: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Mostly linear in the features, so that a short training gets there."""
    linear = features @ random.normal(size=(FEATURES, SHARED_TARGETS))
    bent = np.tanh(features @ random.normal(size=(FEATURES, SHARED_TARGETS)))
    return linear + bent


def _size(values: np.ndarray) -> int:
    return TABLE_ROWS if values.dtype == np.int32 else values.shape[1]


def make_zoo_network(seed: int, groups: int = 20, hazards: int = 3, shape: Shape = "residual") -> ZooWorkload:
    """A drawn network as a workload; the same arguments give the same.

    Raises:
        InputError: the network can't be drawn, see `plan_zoo`.
    """
    return ZooWorkload(plan_zoo(seed, groups, hazards, shape))
