"""What is believed of policies: expected loss, its spread, the chance to train."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.search.propose import CostModel, Site, Tried
from halfwise.search.propose.beliefs import Beliefs, Learner
from halfwise.search.propose.ladder import Ladder
from halfwise.search.propose.prior import Prior

from .models import additive, cost_models, row

NOISE = 0.01


def believed(costs: CostModel, tried: list[Tried], prior: Prior | None = None, **more) -> Beliefs:
    """Beliefs after these trials, with equal draws each time."""
    return Learner(costs, NOISE, prior, **more).believe(tried, np.random.default_rng(0))


def lost(beliefs: Beliefs, *choices: int) -> float:
    """What one policy is expected to lose."""
    return float(beliefs.quality_lost(np.array([choices]))[0])


def spread(beliefs: Beliefs, *choices: int) -> float:
    """How sure that is."""
    return float(beliefs.spread(np.array([choices]))[0])


def trains(beliefs: Beliefs, *choices: int) -> float:
    """The chance of one policy to train."""
    return float(beliefs.trains(np.array([choices]))[0])


def test_losses_that_were_seen_are_expected_again():
    """After trials of each site alone and of all, each is expected to lose what it lost, within noise."""
    outcome = additive(0.0, 0.5, 0.1)
    rows = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)] * 3
    beliefs = believed(row(1.0, 1.0, 1.0), [outcome(choices) for choices in rows])
    for choices in {*rows, (0, 1, 1)}:
        assert lost(beliefs, *choices) == pytest.approx(outcome(choices).quality_lost, abs=4 * NOISE)


def test_float32_is_expected_to_lose_nothing_and_to_train():
    """Of float32 everything is known: no loss, no spread, a chance of 1."""
    beliefs = believed(row(1.0, 1.0), [Tried((1, 1), 0.3), Tried((1, 0), None)])
    assert (lost(beliefs, 0, 0), spread(beliefs, 0, 0), trains(beliefs, 0, 0)) == (0.0, 0.0, 1.0)


def test_a_named_hazard_is_unlikely_to_train_and_the_others_are_not():
    """A failure that names its site leaves the others as likely to train as before."""
    beliefs = believed(row(1.0, 1.0, 1.0), [Tried((1, 1, 1), None, frozenset({1}))])
    assert trains(beliefs, 0, 1, 0) < 0.3
    assert trains(beliefs, 1, 0, 1) > 0.9


@settings(max_examples=30, deadline=None)
@given(cost_models(), st.data())
def test_the_spread_is_that_of_a_linear_model(costs: CostModel, data: st.DataObject):
    """The variance of an expected loss is that of normal weights given the trials, worked out by conditioning."""
    choices = st.tuples(*(st.integers(0, size - 1) for size in costs.sizes))
    tried = [Tried(each, data.draw(st.floats(0, 1))) for each in data.draw(st.lists(choices, max_size=4))]
    beliefs = believed(costs, tried)
    asked = np.array([data.draw(choices)])
    nobody = Beliefs(beliefs.features, beliefs.weights, beliefs.hazards, beliefs.learnt_from[:0], NOISE)
    # Conditioning on observations: V(a) - C(a, X) (V(X) + noise)^-1 C(X, a), with covariances before any trial.
    features, before = beliefs.features, nobody.covariance
    seen, row_of = features.of(beliefs.learnt_from), features.of(asked)
    between = row_of @ before @ seen.T
    known = np.linalg.inv(seen @ before @ seen.T + NOISE**2 * np.eye(len(seen)))
    variance = (row_of @ before @ row_of.T - between @ known @ between.T).item()
    assert beliefs.spread(asked)[0] ** 2 == pytest.approx(variance, rel=1e-6, abs=1e-9)


def test_what_was_tried_often_is_known_well():
    """The spread of a policy that was tried n times is no more than the noise over the root of n."""
    beliefs = believed(row(1.0, 1.0), [Tried((1, 1), 0.4)] * 16)
    assert spread(beliefs, 1, 1) <= NOISE / 4
    assert spread(beliefs, 1, 0) > 2 * spread(beliefs, 1, 1), "the two sites were never told apart"


def test_nothing_has_moved_without_a_trial():
    """The same trials leave the same beliefs: nothing has moved."""
    tried = [Tried((1, 1, 0), 0.1), Tried((1, 1, 1), None, frozenset({2}))]
    assert believed(row(1.0, 1.0, 1.0), tried).moved(believed(row(1.0, 1.0, 1.0), tried)) == 0.0


def test_a_failure_that_is_named_moves_beliefs_by_its_hazard():
    """The most changed belief is the chance of the site that was named, and both ways count alike."""
    costs = row(1.0, 1.0, 1.0)
    before, after = believed(costs, []), believed(costs, [Tried((1, 1, 1), None, frozenset({1}))])
    change = after.hazards.chance[1] - before.hazards.chance[1]
    assert change > 0.5
    assert after.moved(before) == pytest.approx(change) == before.moved(after)


def test_no_sites_no_beliefs_to_move():
    """A network whose only site has no low choice has no belief, and none that moves."""
    beliefs = believed(CostModel(1.0, (Site("only", ("float32",), (1.0,)),)), [])
    assert beliefs.moved(beliefs) == 0.0


def test_earlier_trials_teach_as_much_as_own_ones():
    """Beliefs are the same whether a trial is this study's or was carried over from an earlier one."""
    costs, tried = row(1.0, 1.0), [Tried((1, 1), 0.2), Tried((1, 0), None, frozenset({0}))]
    own, carried = believed(costs, tried), believed(costs, [], earlier=tried)
    assert carried.moved(own) == 0.0
    assert spread(carried, 1, 1) == spread(own, 1, 1)


def test_an_earlier_trial_may_be_tried_again():
    """What an earlier study tried is no trial of this one: the ladder proposes it, and avoids what failed."""
    costs = row(1.0, 1.0, 1.0)
    earlier = (Tried((1, 1, 1), None, frozenset({0})), Tried((0, 1, 1), 0.0))
    ladder = Ladder(costs, NOISE, earlier=earlier)
    assert ladder.propose([Tried((0, 0, 0), 0.0)], np.random.default_rng(0)) == (0, 1, 1)
