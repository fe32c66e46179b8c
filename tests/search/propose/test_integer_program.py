import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.policies.errors import HalfwiseError
from halfwise.search.propose.integer_program import IntegerProgram, Limit, Terms

from .graphs import assert_cheapest, graphs, totals


def terms(site_costs, pair_costs, problem=0):
    """The sum of one problem."""
    return Terms([costs[problem] for costs in site_costs], [costs[problem] for costs in pair_costs])


# The first solution imports the solver, which takes longer than Hypothesis allows.
@settings(max_examples=40, deadline=None)
@given(graphs())
def test_the_solution_is_the_cheapest_of_all(graph):
    """On any small graph, each problem's solution costs what the best of all assignments costs."""
    assert_cheapest(IntegerProgram(*graph[:2]), graph)


@settings(max_examples=60, deadline=None)
@given(graphs(bans=True), st.integers(-20, 20), st.data())
def test_limits_bans_and_exclusions_are_kept(graph, most, data):
    """The solution is the cheapest of the assignments that are not banned, not excluded, and within the limit."""
    sizes, pairs, site_costs, pair_costs = graph
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    limited = [rng.integers(-9, 9, costs.shape).astype(float) for costs in site_costs]
    limited_pairs = [rng.integers(-9, 9, costs.shape).astype(float) for costs in pair_costs]
    costs = totals(sizes, pairs, site_costs, pair_costs, 0)
    second = totals(sizes, pairs, limited, limited_pairs, 0)
    drawn = st.sampled_from(sorted(costs))
    excluded = data.draw(st.lists(drawn, max_size=2))
    ruled_out = [frozenset(list(enumerate(choices))[:2]) for choices in data.draw(st.lists(drawn, max_size=1))]
    left = {
        choices: cost
        for choices, cost in costs.items()
        if np.isfinite(cost)
        and second[choices] <= most
        and choices not in excluded
        and not any(out <= set(enumerate(choices)) for out in ruled_out)
    }
    limit = Limit(terms(limited, limited_pairs), float(most))
    found = IntegerProgram(sizes, pairs).solve(terms(site_costs, pair_costs), [limit], excluded, ruled_out)
    if found is None:
        assert not left
    else:
        assert costs[found] == min(left.values())
        assert found in left


def test_small_costs_are_told_apart():
    """Costs of a billionth, as seconds may be, are solved as well as large ones."""
    costs = [np.array([[2e-9, 1e-9]]), np.array([[1e-9, 3e-9]])]
    assert IntegerProgram((2, 2), ()).minimise(costs, []).tolist() == [[1, 0]]


def test_where_everything_is_banned_there_is_no_solution():
    """A site all of whose choices are banned leaves nothing to choose, and a proposal that needs one says so."""
    banned = [np.full((1, 2), np.inf)]
    assert IntegerProgram((2,), ()).solve(terms(banned, [])) is None
    with pytest.raises(HalfwiseError, match="every one is banned"):
        IntegerProgram((2,), ()).minimise(banned, [])
