from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from halfwise.search.propose.elimination import Elimination

from .graphs import assert_cheapest, graphs


@given(graphs())
def test_the_solution_is_the_cheapest_of_all(graph):
    """On any small graph, each problem's solution costs what the best of all assignments costs."""
    assert_cheapest(Elimination(*graph[:2]), graph)


@given(graphs(bans=True))
def test_what_costs_infinitely_much_is_banned(graph):
    """Where some assignment is not banned, the solution is the cheapest that is not."""
    assert_cheapest(Elimination(*graph[:2]), graph)


@pytest.mark.parametrize("sites", [1, 2, 8])
def test_the_tables_of_a_clique_are_counted(sites):
    """Where every site borders on every other one, the tables have 2^n, 2^(n-1), ... entries."""
    assert Elimination((2,) * sites, tuple(combinations(range(sites), 2))).entries == 2 ** (sites + 1) - 2


def test_a_long_chain_with_shortcuts_has_small_tables():
    """Two hundred sites of three choices in residual blocks need few entries each, in whatever order they come."""
    order = np.random.default_rng(1).permutation(200).tolist()
    pairs = [(site, site + 1) for site in range(199)] + [(site, site + 3) for site in range(0, 196, 3)]
    shuffled = tuple((order[a], order[b]) for a, b in pairs)
    assert Elimination((3,) * 200, shuffled).entries <= 200 * 27
