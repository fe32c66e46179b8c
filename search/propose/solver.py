"""What solves for the cheapest choices: costs of sites and of pairs of sites, many weightings of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ...policies.precision import LOW_PRECISIONS
from .arrays import Floats, Ints
from .cost_model import CostModel

Pair = tuple[int, int]


class Solver(Protocol):
    """Solves for one graph of sites and pairs."""

    def minimise(self, site_costs: Sequence[Floats], pair_costs: Sequence[Floats]) -> Ints:
        """The cheapest choices of each of L problems: (L, sites) places of choices.

        `site_costs[s]` is (L, choices of s); `pair_costs[p]` is (L, choices of first, choices of second). An
        infinite cost is a ban.
        """
        ...


@dataclass(frozen=True)
class Graph:
    """A cost model as solvers see it: its sites, then for each region the low precision that it holds.

    A region's own variable costs nothing. It is paired with each of its sites, at an infinite cost where the site
    is low in another precision: so a region takes one variable more, where its sites in pairs would be a clique.
    """

    costs: CostModel

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many choices each variable has."""
        return (*self.costs.sizes, *(len(held) for _, held in self._regions))

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The borders of the cost model, then each region's site with its region."""
        borders = [(border.first, border.second) for border in self.costs.borders]
        own = enumerate(self._regions, start=len(self.costs.sites))
        return (*borders, *((site, variable) for variable, (region, _) in own for site in region))

    def site_costs(self, own: Sequence[Floats]) -> list[Floats]:
        """The costs of all variables, given those of the sites, (L, choices) each."""
        count = len(own[0])
        return [*own, *(np.zeros((count, len(held))) for _, held in self._regions)]

    def pair_costs(self, own: Sequence[Floats], count: int) -> list[Floats]:
        """The costs of all pairs for L = `count` problems, given those of the borders."""
        return [*own, *(np.broadcast_to(ban, (count, *ban.shape)) for ban in self._bans)]

    @cached_property
    def _regions(self) -> tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]:
        """The regions whose sites offer more than one low precision, with these."""
        offered = [
            (region, {choice for site in region for choice in self.costs.sites[site].choices})
            for region in self.costs.regions
        ]
        lows = [(region, tuple(p for p in LOW_PRECISIONS if p in choices)) for region, choices in offered]
        return tuple((region, held) for region, held in lows if len(held) > 1)

    @cached_property
    def _bans(self) -> tuple[Floats, ...]:
        return tuple(
            _ban(self.costs.sites[site].choices, held) for region, held in self._regions for site in region
        )


def _ban(choices: Sequence[str], held: Sequence[str]) -> Floats:
    """(choices, held): infinite where a low choice is not what the region holds."""
    banned = [[choice in LOW_PRECISIONS and choice != of for of in held] for choice in choices]
    return np.where(banned, np.inf, 0.0)
