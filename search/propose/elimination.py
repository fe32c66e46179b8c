"""Solves a cost model exactly by eliminating one site after the other (bucket elimination; Dechter, 1999).

Networks are nearly chains, with a few values passed around a block: eliminating a site joins the two or three
sites around it, so the tables stay small. Many weightings of time and harm are solved in one go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from math import prod

import numpy as np

from .arrays import Floats, Ints

Pair = tuple[int, int]
_Table = tuple[tuple[int, ...], Floats]

# Entries of the largest table that elimination may build; beyond, an integer program is the better tool.
MAX_TABLE = 20_000


@dataclass(frozen=True)
class Elimination:
    """The order in which the sites of one graph are eliminated, worked out once for all weightings."""

    sizes: tuple[int, ...]
    pairs: tuple[Pair, ...]

    @property
    def feasible(self) -> bool:
        """Whether every table stays within MAX_TABLE entries."""
        return all(prod(self.sizes[site] for site in (step, *rest)) <= MAX_TABLE for step, rest in self._order)

    def minimise(self, site_costs: Sequence[Floats], pair_costs: Sequence[Floats]) -> Ints:
        """The cheapest choices of each of L problems: (L, sites) places of choices.

        `site_costs[s]` is (L, choices of s); `pair_costs[p]` is (L, choices of first, choices of second).
        """
        count = len(site_costs[0])
        tables: list[_Table] = [((site,), costs) for site, costs in enumerate(site_costs)]
        tables += list(zip(self.pairs, pair_costs, strict=True))
        best: list[Ints] = []
        for site, around in self._order:
            mine = [table for table in tables if site in table[0]]
            tables = [table for table in tables if site not in table[0]]
            joined = reduce(np.add, (self._spread(table, (site, *around)) for table in mine))
            best.append(np.argmin(joined, axis=1))
            tables.append((around, np.min(joined, axis=1)))
        return self._read_back(best, count)

    def _spread(self, table: _Table, sites: tuple[int, ...]) -> Floats:
        """The table's costs with an axis for each of the sites, in their order, after the problems' own."""
        own, costs = table
        ordered = np.transpose(costs, (0, *(1 + own.index(site) for site in sites if site in own)))
        axes = [self.sizes[site] if site in own else 1 for site in sites]
        return ordered.reshape(len(costs), *axes)

    def _read_back(self, best: Sequence[Ints], count: int) -> Ints:
        chosen = np.zeros((count, len(self.sizes)), dtype=int)
        rows = np.arange(count)
        for (site, around), table in zip(reversed(self._order), reversed(best), strict=True):
            full = np.broadcast_to(table, (count, *(self.sizes[other] for other in around)))
            chosen[:, site] = full[(rows, *(chosen[:, other] for other in around))]
        return chosen

    @cached_property
    def _order(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Each site with the sites that its elimination joins, the one that joins fewest first."""
        around: dict[int, set[int]] = {site: set() for site in range(len(self.sizes))}
        for first, second in self.pairs:
            around[first].add(second)
            around[second].add(first)
        order: list[tuple[int, tuple[int, ...]]] = []
        while around:
            site = min(around, key=lambda site: (len(around[site]), site))
            others = around.pop(site)
            for a, b in combinations(others, 2):
                around[a].add(b)
                around[b].add(a)
            for other in others:
                around[other].discard(site)
            order.append((site, tuple(sorted(others))))
        return tuple(order)
