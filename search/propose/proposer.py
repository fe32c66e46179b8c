"""What proposes, and what it is told: interchangeable searchers over the sites of a cost model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .cost_model import Choices


@dataclass(frozen=True, slots=True)
class Tried:
    """One trial as a proposer sees it.

    `quality_lost` is the quality lost against float32, same seed and batches, in the metric's own unit: positive
    is worse, whichever way the metric runs; None where the policy did not train. `blamed` are the sites that the
    diagnosis of such a failure named. `pending` trials are still running: nothing is known of them yet.
    """

    choices: Choices
    quality_lost: float | None
    blamed: frozenset[int] = frozenset()
    pending: bool = False

    @property
    def trained(self) -> bool:
        """Whether the trial is over and its policy trains."""
        return self.quality_lost is not None


class Proposer(Protocol):
    """Proposes the next choices from the trials so far; equal histories and seeds give equal proposals."""

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices | None:
        """The next choices, or None when there is nothing left that it would try."""
        ...
