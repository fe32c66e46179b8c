from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.propose import Tried
from halfwise.search.propose import hazards as module
from halfwise.search.propose.additive_loss import Features
from halfwise.search.propose.hazards import believe

SIZES = (2, 2, 2, 2)
FEATURES = Features(SIZES, ())
PRIOR = np.array([0.05, 0.1, 0.02, 0.3])


def exact(tried):
    """Each column's chance by looking through all sets of hazards: Bayes' rule as `hazards` states it."""
    chances, total = np.zeros(len(SIZES)), 0.0
    for hazard in product((0, 1), repeat=len(SIZES)):
        weight = float(np.prod(np.where(hazard, PRIOR, 1 - PRIOR)))
        for trial in tried:
            weight *= likelihood(trial, hazard)
        total += weight
        chances += weight * np.array(hazard)
    return chances / total


def likelihood(trial, hazard):
    """How likely one trial's end is, given the hazards."""
    held = {site for site, choice in enumerate(trial.choices) if choice}
    bad = {site for site in held if hazard[site]}
    if trial.trained:
        return module._CURED ** len(bad)
    if not trial.blamed:
        return 1.0 if bad else module._NO_REASON
    if bad & trial.blamed:
        return 1.0
    return (module._MISPOINTED if bad else module._NO_REASON) / len(held)


@pytest.mark.parametrize(
    "tried",
    [
        pytest.param([], id="nothing"),
        pytest.param([Tried((1, 1, 0, 0), 0.0)], id="trained"),
        pytest.param([Tried((1, 1, 1, 0), None)], id="failed"),
        pytest.param([Tried((1, 1, 1, 1), None, frozenset({2}))], id="blamed"),
        pytest.param([Tried((1, 1, 1, 0), None), Tried((1, 1, 0, 0), 0.1)], id="failed-then-trained"),
        pytest.param([Tried((0, 1, 1, 0), None), Tried((1, 0, 1, 0), None, frozenset({0}))], id="two-failures"),
        pytest.param([Tried((1, 1, 1, 1), None, pending=True)], id="pending"),
    ],
)
def test_chances_are_those_of_bayes_rule(tried):
    """On average over its draws, each column's chance is that of summing over all sets of hazards."""
    told = [trial for trial in tried if not trial.pending]
    found = np.mean([believe(FEATURES, PRIOR, tried, np.random.default_rng(s)).chance for s in range(60)], axis=0)
    assert found == pytest.approx(exact(told), abs=0.05)


def test_a_policy_is_as_likely_to_train_as_its_sites_are_no_hazards():
    """Without trials, a policy trains with the product of its columns' chances to be none, or to be cured."""
    beliefs = believe(FEATURES, PRIOR, [], np.random.default_rng(0))
    rows = FEATURES.of(np.array([(0, 0, 0, 0), (1, 0, 0, 1)]))
    kept = 1 - 0.98 * PRIOR
    assert beliefs.trains(rows) == pytest.approx([1.0, kept[0] * kept[3]])


def test_a_failure_without_a_place_makes_its_sites_unlikely_together():
    """After a failure, the policy that failed hardly trains, and each half of it may."""
    tried = [Tried((1, 1, 0, 0), None)]
    beliefs = believe(FEATURES, np.full(4, 0.05), tried, np.random.default_rng(3))
    both, first, other = beliefs.trains(FEATURES.of(np.array([(1, 1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0)])))
    assert both < 0.2 < first < 0.8 < other


def test_a_failure_in_one_precision_says_nothing_of_another():
    """Each low choice of a site is a hazard or none by itself: what failed in float16 may train in bfloat16."""
    features = Features((3, 3), ())
    tried = [Tried((1, 1), None, frozenset({0}))]
    chance = believe(features, np.full(4, 0.05), tried, np.random.default_rng(1)).chance
    of = dict(zip(features.columns, chance.tolist(), strict=True))
    assert of[0, 1] > 0.9
    assert of[0, 2] == of[1, 2] == pytest.approx(0.05)


@given(st.data())
def test_a_column_is_weighed_as_bayes_rule_weighs_it(data):
    """How much likelier failures are with one more hazard is the ratio of their likelihoods, the others given."""
    sizes = (2, 3, 2, 3)
    features = Features(sizes, ())
    failed = [
        Tried(choices, None, data.draw(st.frozensets(st.integers(0, 3))))
        for choices in data.draw(
            st.lists(st.tuples(*(st.integers(0, n - 1) for n in sizes)), min_size=1, max_size=6)
        )
    ]
    others = data.draw(st.sets(st.integers(0, features.single - 1)))
    column = data.draw(st.integers(0, features.single - 1))
    others.discard(column)
    rows = features.of(np.array([trial.choices for trial in failed])) > 0
    failures = module._Failures(rows, module._pointed(features, failed))
    (own, pointed), (named, held) = failures._of_column[column], failures._of(others)
    found = failures._log_ratio(own, pointed, named, held)
    with_it, without = (_chance_of_all(features, failed, hazards) for hazards in (others | {column}, others))
    assert np.exp(found) == pytest.approx(with_it / without)


def _chance_of_all(features, failed, hazards):
    """The likelihood of failures given all hazards, column by column."""
    total = 1.0
    for trial in failed:
        held = {n for n, (site, choice) in enumerate(features.columns) if trial.choices[site] == choice}
        pointed = {n for n in held if features.columns[n][0] in trial.blamed}
        if pointed & hazards:
            continue
        bad = bool(held & hazards)
        if not pointed:
            total *= 1.0 if bad else module._NO_REASON
        else:
            total *= (module._MISPOINTED if bad else module._NO_REASON) / len(held)
    return total
