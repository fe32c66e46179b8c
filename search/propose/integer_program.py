"""Solves a cost model as an integer program (HiGHS, through SciPy): for dense graphs, and for limits on costs.

A variable for each choice but float32's says that it is taken, one for each pair of such choices at a border that
both are: the local polytope of the graph (Schlesinger, 1976; Werner, 2007) with all variables of first choices
taken out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...policies.errors import HalfwiseError
from .arrays import Floats, Ints
from .cost_model import Choices
from .highs import Row, Rows, cheapest, stacked
from .solver import Pair

Exclusion = frozenset[tuple[int, int]]
"""Sites with choices: all policies that make every one of these choices."""


class Terms(NamedTuple):
    """A sum over one policy: (choices,) for each site, (choices of first, choices of second) for each pair."""

    sites: Sequence[Floats]
    pairs: Sequence[Floats]


class Limit(NamedTuple):
    """What a sum may come to at most, within a millionth of its largest term."""

    terms: Terms
    most: float


@dataclass(frozen=True)
class IntegerProgram:
    """The constraints of one graph, written down once for all costs; a `Solver`.

    With `nodes`, the branching ends after so many: then a solution may be a good one only. A limit in seconds
    would make proposals depend on the machine.
    """

    sizes: tuple[int, ...]
    pairs: tuple[Pair, ...]
    nodes: int | None = None

    def minimise(self, site_costs: Sequence[Floats], pair_costs: Sequence[Floats]) -> Ints:
        """The cheapest choices of each of L problems: (L, sites), as `Solver` has it.

        Raises:
            HalfwiseError: all choices of a problem are banned, or none was found within `nodes`.
        """
        found: list[Choices] = []
        for problem in range(len(site_costs[0])):
            terms = Terms([costs[problem] for costs in site_costs], [costs[problem] for costs in pair_costs])
            choices = self.solve(terms)
            if choices is None:
                raise HalfwiseError("the solver was asked for choices of which every one is banned")
            found.append(choices)
        return np.array(found, dtype=np.int64)

    def solve(
        self,
        least: Terms,
        limits: Sequence[Limit] = (),
        excluded: Sequence[Choices] = (),
        ruled_out: Sequence[Exclusion] = (),
    ) -> Choices | None:
        """The choices of least cost among those within the limits that are not excluded; None if there are none.

        Infinite costs are bans; limits have none. Each of `ruled_out` leaves out all that make its choices.

        Raises:
            HalfwiseError: none was found within `nodes`.
        """
        costs, _ = self._linear(least)
        exclusions = [*map(sorted, ruled_out), *(list(enumerate(choices)) for choices in excluded)]
        more = stacked([*self._banned(least), *map(self._limit, limits), *map(self._not_all, exclusions)])
        taken = cheapest(costs, self._single, (self._structure, more), self.nodes)
        return None if taken is None else self._read(taken)

    def _read(self, taken: Ints) -> Choices:
        return tuple(
            int(taken[start : start + size - 1] @ np.arange(1, size))
            for start, size in zip(self._starts, self.sizes, strict=True)
        )

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The column of each site's first choice but float32's."""
        return (0, *np.cumsum([size - 1 for size in self.sizes])[:-1].tolist()) if self.sizes else ()

    @cached_property
    def _single(self) -> int:
        """How many columns are choices; those of products follow."""
        return sum(size - 1 for size in self.sizes)

    @cached_property
    def _products(self) -> tuple[int, ...]:
        """The column of each pair's first product; its others follow in the order of a table."""
        counts = [(self.sizes[a] - 1) * (self.sizes[b] - 1) for a, b in self.pairs]
        return tuple((self._single + np.cumsum([0, *counts])[:-1]).tolist())

    @cached_property
    def width(self) -> int:
        """How many variables there are: what a solution takes in time grows with it."""
        # The solver refuses to look at no column at all.
        return max(self._single + sum((self.sizes[a] - 1) * (self.sizes[b] - 1) for a, b in self.pairs), 1)

    def _linear(self, terms: Terms) -> tuple[Floats, float]:
        """A sum as one figure a column and a constant: everything counts from the first choices. Bans count 0."""
        columns = np.zeros(self.width)
        constant = 0.0
        for start, costs in zip(self._starts, map(_finite, terms.sites), strict=True):
            columns[start : start + len(costs) - 1] += costs[1:] - costs[0]
            constant += float(costs[0])
        for (a, b), at, costs in zip(self.pairs, self._products, map(_finite, terms.pairs), strict=True):
            constant += float(costs[0, 0])
            first, second = self._starts[a], self._starts[b]
            columns[first : first + len(costs) - 1] += costs[1:, 0] - costs[0, 0]
            columns[second : second + costs.shape[1] - 1] += costs[0, 1:] - costs[0, 0]
            both = costs[1:, 1:] - costs[1:, :1] - costs[:1, 1:] + costs[0, 0]
            columns[at : at + both.size] = both.ravel()
        return columns, constant

    @cached_property
    def _structure(self) -> Rows:
        """One choice a site, and products that are what they say."""
        rows = [
            Row(tuple(range(start, start + size - 1)), (1.0,) * (size - 1), 1.0)
            for start, size in zip(self._starts, self.sizes, strict=True)
            if size > 2
        ]
        for (a, b), at in zip(self.pairs, self._products, strict=True):
            rows += self._product_rows(a, b, at)
        return stacked(rows)

    def _product_rows(self, a: int, b: int, at: int) -> Iterator[Row]:
        """Both taken means that each is; two sites without their first choice have one product taken."""
        tall, wide = self.sizes[a] - 1, self.sizes[b] - 1
        table = at + np.arange(tall * wide).reshape(tall, wide)
        ends: list[int] = []
        for start, lines in ((self._starts[a], table), (self._starts[b], table.T)):
            for choice, line in enumerate(lines.tolist(), start=start):
                ends.append(choice)
                yield Row((*line, choice), (*(1.0,) * len(line), -1.0), 0.0)
        products = table.ravel().tolist()
        yield Row((*ends, *products), (*(1.0,) * len(ends), *(-1.0,) * len(products)), 1.0)

    def _limit(self, limit: Limit) -> Row:
        columns, constant = self._linear(limit.terms)
        scale = max(float(np.abs(columns).max(initial=0)), 1e-300)
        return Row(tuple(range(self.width)), tuple((columns / scale).tolist()), (limit.most - constant) / scale)

    def _banned(self, terms: Terms) -> Iterator[Row]:
        for site, costs in enumerate(terms.sites):
            for choice in np.flatnonzero(np.isinf(costs)).tolist():
                yield self._not_all([(site, choice)])
        for (a, b), costs in zip(self.pairs, terms.pairs, strict=True):
            for first, second in np.argwhere(np.isinf(costs)).tolist():
                yield self._not_all([(a, first), (b, second)])

    def _not_all(self, taken: Sequence[tuple[int, int]]) -> Row:
        """Not all of these choices at once; a first choice is taken where no other one of the site is."""
        columns: list[int] = []
        factors: list[float] = []
        firsts = 0
        for site, choice in taken:
            start, others = self._starts[site], self.sizes[site] - 1
            columns += [start + choice - 1] if choice else range(start, start + others)
            factors += [1.0] if choice else [-1.0] * others
            firsts += choice == 0
        return Row(tuple(columns), tuple(factors), len(taken) - 1 - firsts)


def _finite(costs: Floats) -> Floats:
    return np.where(np.isinf(costs), 0.0, costs)
