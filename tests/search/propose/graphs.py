"""Graphs with costs, and what each of their assignments costs by adding up."""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st

from halfwise.search.propose.solver import Solver

PROBLEMS = 3

Costs = list[np.ndarray]
Graph = tuple[tuple[int, ...], tuple[tuple[int, int], ...], Costs, Costs]


@st.composite
def graphs(draw: st.DrawFn, bans: bool = False) -> Graph:
    """Sizes of up to six sites, some of their pairs, and integer costs, so that sums are exact.

    With `bans`, some costs are infinite.
    """
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    every = list(combinations(range(len(sizes)), 2))
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = [*((PROBLEMS, size) for size in sizes), *((PROBLEMS, sizes[a], sizes[b]) for a, b in pairs)]
    costs = [rng.integers(-9, 9, shape).astype(float) for shape in shapes]
    if bans:
        costs = [np.where(rng.random(each.shape) < 0.2, np.inf, each) for each in costs]
    return tuple(sizes), tuple(pairs), costs[: len(sizes)], costs[len(sizes) :]


def totals(
    sizes: Sequence[int], pairs: Sequence[tuple[int, int]], site_costs: Costs, pair_costs: Costs, problem: int
) -> dict[tuple[int, ...], float]:
    """What every assignment costs in one problem."""
    found: dict[tuple[int, ...], float] = {}
    for choices in product(*map(range, sizes)):
        sites = sum(costs[problem, choice] for costs, choice in zip(site_costs, choices, strict=True))
        found[choices] = float(
            sites
            + sum(costs[problem, choices[a], choices[b]] for (a, b), costs in zip(pairs, pair_costs, strict=True))
        )
    return found


def assert_cheapest(solver: Solver, graph: Graph) -> None:
    """Each problem's solution costs what the best of all assignments costs."""
    sizes, pairs, site_costs, pair_costs = graph
    found = solver.minimise(site_costs, pair_costs)
    for problem in range(PROBLEMS):
        costs = totals(sizes, pairs, site_costs, pair_costs, problem)
        assert costs[tuple(found[problem].tolist())] == min(costs.values())
