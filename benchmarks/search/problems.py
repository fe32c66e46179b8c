"""What searchers are set against: a space with prices, trials that cost something, and the truth to judge by."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from halfwise.search.hypervolume import Place
from halfwise.search.propose.cost_model import Choices, CostModel
from halfwise.search.propose.prior import Prior
from halfwise.search.propose.proposer import Tried

Places = Sequence[Place]
"""Speed-up over float32 and quality lost against it."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a trial came to and counts: 1 for the training, more for a diagnosis by its steps over a trial's."""

    tried: Tried
    counted: float = 1.0


class Problem(Protocol):
    """A space to search, of which the truth is known.

    `references` are places (speed-up, quality lost) to measure hypervolume from. The first one judges: float32's
    speed and the worst trainable quality. The second one is printed beside it. `noise` is the standard deviation
    of one trial's quality lost.
    """

    @property
    def costs(self) -> CostModel:
        """The sites and what they take."""
        ...

    @property
    def noise(self) -> float:
        """In the unit of quality lost."""
        ...

    @property
    def prior(self) -> Prior:
        """The sites' chances of harm, as far as they are known before the first trial."""
        ...

    @property
    def references(self) -> Places:
        """Two of them."""
        ...

    def speedup(self, choices: Choices) -> float:
        """Times float32's speed; exactly known, as a price is."""
        ...

    def quality_lost(self, choices: Choices) -> float | None:
        """The true loss; None where the policy does not train."""
        ...

    def observe(self, choices: Choices, rng: np.random.Generator) -> Observation:
        """One trial, with its noise."""
        ...

    def exact_front(self) -> Places:
        """The front of all policies by their true figures."""
        ...


class Family(Protocol):
    """Problems of one kind, one for each seed; can be sent to another process."""

    @property
    def name(self) -> str:
        """What figures and files call it."""
        ...

    def problem(self, seed: int) -> Problem:
        """The problem of a seed."""
        ...
