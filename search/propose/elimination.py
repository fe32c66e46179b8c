"""Solves a cost model exactly by eliminating one site after the other (bucket elimination; Dechter, 1999).

Networks are nearly chains, with a few values passed around a block: eliminating a site joins the two or three
sites around it, so the tables stay small. Many weightings of time and harm are solved in one go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .solver import Pair


class _Joined(NamedTuple):
    """A table that a step takes: its number, how its axes are ordered, and its shape behind the problems' axis."""

    number: int
    axes: tuple[int, ...]
    shape: tuple[int, ...]


class _Step(NamedTuple):
    """The elimination of a site: what it joins, and the sites that the new table is over."""

    site: int
    around: tuple[int, ...]
    joined: tuple[_Joined, ...]


@dataclass(frozen=True)
class Elimination:
    """The order in which the sites of one graph are eliminated, worked out once for all weightings; a `Solver`."""

    sizes: tuple[int, ...]
    pairs: tuple[Pair, ...]

    @cached_property
    def entries(self) -> int:
        """How many entries the tables of one problem have together: what a solution takes in time and memory."""
        return sum(prod(self.sizes[site] for site in (step, *rest)) for step, rest in self._order)

    def minimise(self, site_costs: Sequence[Floats], pair_costs: Sequence[Floats]) -> Ints:
        """The cheapest choices of each of L problems: (L, sites), as `Solver` has it."""
        count = len(site_costs[0])
        tables: list[Floats] = [*site_costs, *pair_costs]
        best: list[Ints] = []
        for step in self._steps:
            joined = reduce(np.add, (_spread(tables[table.number], table) for table in step.joined))
            for table in step.joined:
                # Large tables would pile up otherwise.
                tables[table.number] = np.empty(0)
            best.append(joined.argmin(axis=1))
            tables.append(joined.min(axis=1))
        return self._read_back(best, count)

    def _read_back(self, best: Sequence[Ints], count: int) -> Ints:
        chosen = np.zeros((count, len(self.sizes)), dtype=np.int64)
        rows = np.arange(count)
        for step, table in zip(reversed(self._steps), reversed(best), strict=True):
            full = np.broadcast_to(table, (count, *(self.sizes[other] for other in step.around)))
            chosen[:, step.site] = full[(rows, *(chosen[:, other] for other in step.around))]
        return chosen

    @cached_property
    def _steps(self) -> tuple[_Step, ...]:
        """What each elimination joins: tables are numbered sites first, then pairs, then as they are made."""
        over: list[tuple[int, ...]] = [(site,) for site in range(len(self.sizes))]
        over += self.pairs
        waiting: dict[int, list[int]] = {site: [] for site in range(len(self.sizes))}
        place = {site: turn for turn, (site, _) in enumerate(self._order)}
        for number, sites in enumerate(over):
            waiting[min(sites, key=place.__getitem__)].append(number)
        steps: list[_Step] = []
        for site, around in self._order:
            joined = tuple(self._joined(number, over[number], (site, *around)) for number in waiting[site])
            steps.append(_Step(site, around, joined))
            if around:
                waiting[min(around, key=place.__getitem__)].append(len(over))
            over.append(around)
        return tuple(steps)

    def _joined(self, number: int, own: tuple[int, ...], sites: tuple[int, ...]) -> _Joined:
        axes = (0, *(1 + own.index(site) for site in sites if site in own))
        return _Joined(number, axes, tuple(self.sizes[site] if site in own else 1 for site in sites))

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


def _spread(costs: Floats, table: _Joined) -> Floats:
    """The table's costs with an axis for each of the sites, in their order, after the problems' own."""
    return costs.transpose(table.axes).reshape(len(costs), *table.shape)
