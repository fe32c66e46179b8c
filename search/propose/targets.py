"""Solves for a target: the least harm at a speed, the most speed at a loss; exact under the cost model.

For answers without trials. What is expected of a policy is given as the ladder believes it, by column of
`Features`; hazards count as independent of each other here.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...policies.errors import InputError
from .additive_loss import Features
from .arrays import Floats
from .cost_model import Choices, CostModel
from .integer_program import Exclusion, IntegerProgram, Limit, Terms
from .solver import Graph


@dataclass(frozen=True, eq=False)
class Expected:
    """What policies are expected to lose, and to fail: the figures of the ladder's beliefs.

    `weights` are the quality lost by column, `chance` that of columns to be hazards, `worst_lost` the loss that
    counts as everything; losses in the metric's unit.
    """

    weights: Floats
    chance: Floats
    worst_lost: float


@dataclass(frozen=True, eq=False)
class Targets:
    """Solves one cost model for targets; `features` are those of the cost model, `ruled_out` is no answer."""

    costs: CostModel
    features: Features
    ruled_out: tuple[Exclusion, ...] = ()

    def least_harm(
        self, expected: Expected, max_step_time_s: float, max_quality_lost: float | None = None
    ) -> Choices | None:
        """Of the policies that take at most so long, the one of least expected harm; None where there is none.

        Harm is the quality lost, plus the worst loss times the chances to fail (as minus logarithms of the chances
        to train, which add up). With `max_quality_lost` only policies count that are expected to lose no more.
        """
        doubt, lost = self._doubt(expected), self._lost(expected)
        sites = [a + expected.worst_lost * b for a, b in zip(lost.sites, doubt.sites, strict=True)]
        limits = [Limit(self._seconds, max_step_time_s - self.costs.constant_s)]
        if max_quality_lost is not None:
            limits.append(Limit(lost, max_quality_lost))
        return self._solve(Terms(sites, lost.pairs), limits)

    def least_time(self, expected: Expected, max_quality_lost: float, least_chance: float = 0.5) -> Choices | None:
        """Of the policies that are expected to lose no more, and to train with such a chance, the fastest.

        None where there is none.

        Raises:
            InputError: the chance is not above 0 and at most 1.
        """
        if not 0 < least_chance <= 1:
            raise InputError(f"the chance to train must be above 0 and at most 1, but is {least_chance}")
        limits = [
            Limit(self._lost(expected), max_quality_lost),
            Limit(self._doubt(expected), -float(np.log(least_chance))),
        ]
        return self._solve(self._seconds, limits)

    def fastest(
        self, banned: Collection[tuple[int, int]] = (), excluded: Sequence[Choices] = ()
    ) -> Choices | None:
        """The fastest policy that holds no banned (site, choice) and is not excluded; None where there is none."""
        seconds = self._seconds
        sites = [costs.copy() for costs in seconds.sites]
        for site, choice in banned:
            sites[site][choice] = np.inf
        return self._solve(Terms(sites, seconds.pairs), [], excluded)

    def _solve(self, least: Terms, limits: Sequence[Limit], excluded: Sequence[Choices] = ()) -> Choices | None:
        sites = len(self.costs.sites)
        found = self._program.solve(least, limits, excluded, self.ruled_out)
        return None if found is None else found[:sites]

    @cached_property
    def _graph(self) -> Graph:
        return Graph(self.costs)

    @cached_property
    def _program(self) -> IntegerProgram:
        return IntegerProgram(self._graph.sizes, self._graph.pairs)

    @cached_property
    def _seconds(self) -> Terms:
        return self._terms(
            [np.array(site.seconds) for site in self.costs.sites],
            [np.array(border.seconds) for border in self.costs.borders],
        )

    def _lost(self, expected: Expected) -> Terms:
        weights = expected.weights
        pairs = [np.zeros(np.shape(border.seconds)) for border in self.costs.borders]
        for both, weight in zip(pairs, weights[self.features.single :], strict=True):
            both[1:, 1:] = weight
        return self._terms(self._by_site(weights), pairs)

    def _doubt(self, expected: Expected) -> Terms:
        pairs = [np.zeros(np.shape(border.seconds)) for border in self.costs.borders]
        return self._terms(self._by_site(-np.log1p(-expected.chance)), pairs)

    def _by_site(self, columns: Floats) -> list[Floats]:
        sites = [np.zeros(size) for size in self.costs.sizes]
        for value, (site, choice) in zip(columns, self.features.columns, strict=False):
            sites[site][choice] = value
        return sites

    def _terms(self, sites: Sequence[Floats], pairs: Sequence[Floats]) -> Terms:
        """As a sum over the graph; what no region can hold is banned."""
        all_sites = self._graph.site_costs([costs[None] for costs in sites])
        all_pairs = self._graph.pair_costs([costs[None] for costs in pairs], 1)
        return Terms([costs[0] for costs in all_sites], [costs[0] for costs in all_pairs])
