"""Polygraphy's bisection: the fewest sites, counted from the input or the output, that must be float32.

`polygraphy debug precision` (`BisectMarker` and `LinearMarker` in `polygraphy/tools/debug/subtool/precision.py` of
https://github.com/NVIDIA/TensorRT): mark the first (forward) or last (reverse) m sites float32, leave the others
low, and search for the least m that is good enough, by halving or by counting up from none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .cost_model import Choices, CostModel
from .levels import all_low
from .proposer import Tried
from .replayed import Steps, narrow, replay, works_within


@dataclass(frozen=True)
class Bisect:
    """Halving forward, halving in reverse, then counting up both ways; a `Proposer`.

    Polygraphy does one of the four, as its user says; here they follow each other as long as there are trials.
    Good enough is what trains and loses at most `max_quality_lost`, in the metric's unit; with None, what trains.
    All in float32 is taken as good without a trial.
    """

    costs: CostModel
    max_quality_lost: float | None = None

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices | None:
        """What the bisection would check next; None after the last count."""
        return replay(self._steps(), tried)

    def _steps(self) -> Steps:
        works = works_within(self.max_quality_lost)
        markings: tuple[Callable[[int], Choices], ...] = (partial(_first, self.costs), partial(_last, self.costs))
        sites = len(self.costs.sites)
        if not works((yield all_low(self.costs))):
            for marked in markings:
                yield from narrow(sites, 0, marked, works)
        for marked in markings:
            for count in range(1, sites):
                yield marked(count)


def _first(costs: CostModel, count: int) -> Choices:
    return costs.float32[:count] + all_low(costs)[count:]


def _last(costs: CostModel, count: int) -> Choices:
    low = len(costs.sites) - count
    return all_low(costs)[:low] + costs.float32[low:]
