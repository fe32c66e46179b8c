"""The bound on what is left: proven by the trials that failed, and under the beliefs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.search.propose import CostModel, Tried
from halfwise.search.propose.beliefs import Learner
from halfwise.search.propose.bound import Bound, bound_of, shown_to_fail

from .models import cost_models, row

NOISE = 0.01


@st.composite
def failures(draw: st.DrawFn, costs: CostModel) -> list[Tried]:
    """Trials that failed: some named sites, some did not train for no known reason, some lost too much."""
    choices = st.tuples(*(st.integers(0, size - 1) for size in costs.sizes))
    blamed = st.frozensets(st.integers(0, len(costs.sizes) - 1), max_size=2)
    failed = st.builds(Tried, choices.filter(any), st.sampled_from([None, 0.5]), blamed)
    return draw(st.lists(failed, max_size=5)) if any(size > 1 for size in costs.sizes) else []


def refuted(choices: tuple[int, ...], failed: list[Tried]) -> bool:
    """Whether a trial speaks against a policy, straight from the definition."""
    for trial in failed:
        named = [site for site in trial.blamed if trial.choices[site]]
        if trial.quality_lost is not None or not named:
            named = range(len(choices))
        if all(choices[site] == trial.choices[site] for site in named):
            return True
    return False


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_bound_is_that_of_trying_every_policy(data: st.DataObject):
    """Both figures are those of the fastest policies that enumeration finds."""
    costs = data.draw(cost_models())
    failed = data.draw(failures(costs))
    beliefs = Learner(costs, NOISE).believe(failed, np.random.default_rng(0))
    allowed = data.draw(st.floats(0, 0.5))
    found = bound_of(costs, beliefs, failed, allowed, best_speedup=1.0)
    left = [c for c in product(*map(range, costs.sizes)) if not refuted(c, failed)]
    assert found.possible == pytest.approx(max(map(costs.speedup, left)))
    rows = beliefs.features.of(np.array(left))
    doubt = rows[:, : beliefs.features.single] @ -np.log1p(-beliefs.hazards.chance)
    # At the very limits either answer is right.
    sure, open_ = (
        [
            costs.speedup(c)
            for c, d, w in zip(left, doubt, rows @ beliefs.weights, strict=True)
            if d <= s and w <= t
        ]
        for s, t in ((np.log(2) - 1e-6, allowed - 1e-6), (np.log(2) + 1e-6, allowed + 1e-6))
    )
    assert max([*sure, 0.0]) * (1 - 1e-6) <= found.believed <= max([*open_, 1.0]) * (1 + 1e-6)


def test_shares_are_of_the_best_policy():
    """What is left is relative to the best policy's speed, and never less than nothing."""
    assert Bound(best=2.0, possible=2.5, believed=1.9).left == pytest.approx(0.25)
    assert Bound(best=2.0, possible=2.5, believed=1.9).left_by_belief == 0.0


def test_a_named_site_is_ruled_out_wherever_else_it_is_low():
    """After one failure that names a site, the fastest policy left keeps it in float32."""
    costs = row(3.0, 1.0, 1.0)
    failed = [Tried((1, 1, 1), None, frozenset({0}))]
    beliefs = Learner(costs, NOISE).believe(failed, np.random.default_rng(0))
    assert bound_of(costs, beliefs, failed, 0.1, 1.0).possible == pytest.approx(costs.speedup((0, 1, 1)))


def test_a_site_that_was_not_low_is_not_to_blame():
    """A diagnosis that names only sites in float32 speaks against its own policy alone."""
    assert shown_to_fail([Tried((0, 1), None, frozenset({0}))]) == (frozenset({(0, 0), (1, 1)}),)


def test_a_loss_speaks_against_its_own_policy_alone():
    """A policy that trained and lost too much rules out itself, even where sites were named."""
    assert shown_to_fail([Tried((1, 1), 0.9, frozenset({0}))]) == (frozenset({(0, 1), (1, 1)}),)
