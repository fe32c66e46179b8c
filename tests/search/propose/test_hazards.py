from itertools import product

import numpy as np
import pytest

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
