from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.propose.elimination import Elimination

PROBLEMS = 3


@st.composite
def graphs(draw):
    """Sizes of up to six sites, some of their pairs, and integer costs, so that sums are exact."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    every = list(combinations(range(len(sizes)), 2))
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    site_costs = [rng.integers(-9, 9, (PROBLEMS, size)).astype(float) for size in sizes]
    pair_costs = [rng.integers(-9, 9, (PROBLEMS, sizes[a], sizes[b])).astype(float) for a, b in pairs]
    return tuple(sizes), tuple(pairs), site_costs, pair_costs


def total(choices, pairs, site_costs, pair_costs, problem):
    """The cost of one assignment in one problem."""
    sites = sum(costs[problem, choice] for costs, choice in zip(site_costs, choices, strict=True))
    return sites + sum(
        costs[problem, choices[a], choices[b]] for (a, b), costs in zip(pairs, pair_costs, strict=True)
    )


@given(graphs())
def test_the_solution_is_the_cheapest_of_all(graph):
    """On any small graph, each problem's solution costs what the best of all assignments costs."""
    sizes, pairs, site_costs, pair_costs = graph
    found = Elimination(sizes, pairs).minimise(site_costs, pair_costs)
    for problem in range(PROBLEMS):
        costs = [total(c, pairs, site_costs, pair_costs, problem) for c in product(*map(range, sizes))]
        assert total(found[problem], pairs, site_costs, pair_costs, problem) == min(costs)


@pytest.mark.parametrize(("sites", "feasible"), [(8, True), (24, False)])
def test_a_graph_whose_tables_would_explode_says_so(sites, feasible):
    """Where every site borders on every other one, elimination is feasible for few sites only."""
    assert Elimination((2,) * sites, tuple(combinations(range(sites), 2))).feasible is feasible


def test_a_long_chain_with_shortcuts_is_feasible():
    """Two hundred sites in residual blocks stay within small tables."""
    pairs = [(site, site + 1) for site in range(199)] + [(site, site + 3) for site in range(0, 196, 3)]
    assert Elimination((3,) * 200, tuple(pairs)).feasible
