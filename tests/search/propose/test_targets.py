from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.policies.errors import InputError
from halfwise.search.propose.additive_loss import Features
from halfwise.search.propose.cost_model import CostModel
from halfwise.search.propose.targets import Expected, Targets

from .models import cost_models, row


def features_of(model: CostModel) -> Features:
    """The columns of a cost model."""
    return Features(model.sizes, [(border.first, border.second) for border in model.borders])


@st.composite
def cases(draw):
    """A cost model, what is expected of its policies, and all that its regions can hold, with their figures."""
    model = draw(cost_models(regions=True))
    features = features_of(model)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.exponential(size=features.all)
    weights[features.single :] -= 0.5
    expected = Expected(weights, rng.uniform(0.01, 0.6, features.single), worst_lost=5.0)
    every = np.array(list(product(*map(range, model.sizes))))
    every = every[model.allowed(every)]
    rows = features.of(every)
    doubt = -(rows[:, : features.single] @ np.log1p(-expected.chance))
    figures = zip(model.step_times_s(every).tolist(), (rows @ weights).tolist(), doubt.tolist(), strict=True)
    return model, expected, dict(zip(map(tuple, every.tolist()), figures, strict=True))


def _tenths(number: int) -> float:
    # Away from what policies come to, so that rounding decides nothing.
    return number / 10 + 0.013


@settings(max_examples=40, deadline=None)
@given(cases(), st.floats(0, 1), st.none() | st.integers(0, 30).map(_tenths))
def test_the_least_harm_at_a_speed_is_that_of_brute_force(case, share, most):
    """Of the policies that are fast enough, and lose no more where that is asked, that of least harm is found."""
    model, expected, every = case
    seconds = [figures[0] for figures in every.values()]
    limit = min(seconds) + share * (max(seconds) - min(seconds)) + 1e-4
    found = Targets(model, features_of(model)).least_harm(expected, limit, most)
    left = {
        c: lost + 5.0 * doubt for c, (time, lost, doubt) in every.items() if time <= limit and _within(lost, most)
    }
    assert (found is None) == (not left)
    assert found is None or left[found] == pytest.approx(min(left.values()))


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(-5, 30).map(_tenths), st.integers(0, 9).map(_tenths))
def test_the_least_time_at_a_loss_is_that_of_brute_force(case, most, chance):
    """Of all policies that lose no more and are as likely to train, the fastest is found."""
    model, expected, every = case
    found = Targets(model, features_of(model)).least_time(expected, most, chance)
    left = {c: time for c, (time, lost, doubt) in every.items() if lost <= most and doubt <= -np.log(chance)}
    assert (found is None) == (not left)
    assert found is None or left[found] == pytest.approx(min(left.values()))


@settings(max_examples=40, deadline=None)
@given(cases(), st.data())
def test_the_fastest_of_the_rest_is_that_of_brute_force(case, data):
    """What is banned or excluded, one after the other, leaves the fastest of the other policies."""
    model, _, every = case
    columns = features_of(model).columns
    banned = data.draw(st.lists(st.sampled_from(columns), max_size=2)) if columns else []
    left = {
        choices: figures[0]
        for choices, figures in every.items()
        if not any(choices[site] == choice for site, choice in banned)
    }
    targets, excluded = Targets(model, features_of(model)), []
    for _ in range(3):
        found = targets.fastest(banned, excluded)
        assert (found is None) == (not left)
        if found is None:
            return
        assert left[found] == pytest.approx(min(left.values()))
        excluded.append(found)
        del left[found]


def test_a_chance_of_nothing_is_refused():
    """The least chance to train must be above 0 and at most 1."""
    model = row(0.5)
    expected = Expected(np.zeros(1), np.array([0.1]), 1.0)
    with pytest.raises(InputError, match="must be above 0 and at most 1, but is 0"):
        Targets(model, features_of(model)).least_time(expected, 1.0, 0)


def _within(lost, most):
    return most is None or lost <= most
