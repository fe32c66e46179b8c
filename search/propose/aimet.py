"""AIMET's automatic mixed precision: sites by their sensitivity, then the longest prefix that is good enough.

The greedy algorithm of the AI Model Efficiency Toolkit, `GreedyMixedPrecisionAlgo` in
`aimet_common/amp/mixed_precision_algo.py` (https://github.com/quic/aimet). It starts with everything low. Phase 1
lowers one site at a time and sorts the sites by the quality lost, equal ones by what they gain. Phase 2 lowers
prefixes of this list: with an allowed loss by binary search, without one all of them. Nothing of it knows noise or
neighbours.
"""

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from .cost_model import Choices, CostModel
from .levels import all_low
from .proposer import Tried
from .replayed import Steps, halving, narrow, replay, works_within

Lowering = tuple[int, int]
"""A site, and one of its low choices."""


@dataclass(frozen=True)
class Aimet:
    """AIMET's greedy search; a `Proposer`.

    `max_quality_lost` is the loss that phase 2 searches for, in the metric's unit; None where the whole front is
    asked for. Prefixes that AIMET would leave out, or try in order, are tried at last by halving the widest gap:
    a search that ends early then has them spread. A site that appears again in the list, with another precision,
    changes to it only if that is faster.
    """

    costs: CostModel
    max_quality_lost: float | None = None

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices | None:
        """What AIMET would evaluate next; None after the last prefix."""
        return replay(self._steps(), tried)

    def _steps(self) -> Steps:
        yield all_low(self.costs)
        ranked = yield from self._rank()
        if self.max_quality_lost is not None:
            works = works_within(self.max_quality_lost)
            yield from narrow(0, len(ranked) + 1, lambda length: self._lowered(ranked[:length]), works)
        for length in halving(len(ranked)):
            yield self._lowered(ranked[:length])

    def _rank(self) -> Generator[Choices, Tried, list[Lowering]]:
        """Phase 1: least quality lost first; a site that ruins training comes last."""
        lost: dict[Lowering, float] = {}
        for site, size in enumerate(self.costs.sizes):
            for choice in range(1, size):
                trial = yield self._lowered([(site, choice)])
                lost[site, choice] = math.inf if trial.quality_lost is None else trial.quality_lost
        return sorted(lost, key=lambda lowering: (lost[lowering], -self._gain_s(lowering)))

    def _gain_s(self, lowering: Lowering) -> float:
        seconds = self.costs.sites[lowering[0]].seconds
        return seconds[0] - seconds[lowering[1]]

    def _lowered(self, lowerings: Sequence[Lowering]) -> Choices:
        choices = list(self.costs.float32)
        for site, choice in lowerings:
            if choices[site] == 0 or self._gain_s((site, choice)) > self._gain_s((site, choices[site])):
                choices[site] = choice
        return self.costs.one_low(choices)
