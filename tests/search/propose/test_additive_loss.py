from itertools import product

import numpy as np
import pytest

from halfwise.search.propose.additive_loss import AdditiveLoss, Features
from halfwise.search.propose.arrays import rows_of

CHAIN = Features((2, 2, 3), ((0, 1), (1, 2)))
FLAT = np.ones(CHAIN.single)
EVERY = [tuple(choices) for choices in product(range(2), range(2), range(3))]
# Weights of (0, low), (1, low), (2, first low), (2, second low), and of the two borders.
TRUE = np.array([0.5, 0.0, 0.2, 1.0, 0.1, 0.0])


def history(rounds: int, noise: float):
    """Every policy some times, with what it loses and noise on top."""
    rng = np.random.default_rng(7)
    pairs = list(zip(EVERY, CHAIN.of(np.array(EVERY)) @ TRUE, strict=True))
    return [(c, float(v + noise * rng.standard_normal())) for _ in range(rounds) for c, v in pairs]


def test_columns_are_the_low_choices_and_the_borders_that_are_low_on_both_sides():
    """A policy's row marks each low choice, and each border with low precision on both sides."""
    assert CHAIN.columns == [(0, 1), (1, 1), (2, 1), (2, 2)]
    assert CHAIN.of(np.array([(1, 1, 2), (0, 1, 0)])).tolist() == [[1, 1, 0, 1, 1, 1], [0, 1, 0, 0, 0, 0]]


def test_many_trials_teach_the_true_weights():
    """With many trials the weights come to what each policy was made to lose."""
    weights = AdditiveLoss(CHAIN, 0.02, FLAT, seed=1).weights(history(8, 0.02))
    assert CHAIN.of(np.array(EVERY)) @ weights == pytest.approx(CHAIN.of(np.array(EVERY)) @ TRUE, abs=0.05)


def test_no_trial_says_nothing():
    """Without trials nothing is lost anywhere."""
    assert AdditiveLoss(CHAIN, 0.02, FLAT, seed=1).weights([]).tolist() == [0.0] * CHAIN.all


def test_sites_gain_nothing_from_low_precision():
    """A site's own weight never becomes negative, whatever the noise says."""
    better = [(choices, -0.3) for choices in EVERY[1:]]
    assert AdditiveLoss(CHAIN, 0.05, FLAT, seed=1).weights(better)[: CHAIN.single].min() >= 0


def test_the_same_history_gives_the_same_weights_however_it_came():
    """One by one, at once, or after a history that was taken back: equal histories give equal weights."""
    trials = history(1, 0.02)
    at_once = AdditiveLoss(CHAIN, 0.02, FLAT, seed=1).weights(trials)
    growing = AdditiveLoss(CHAIN, 0.02, FLAT, seed=1)
    for end in range(len(trials)):
        growing.weights(trials[:end])
    assert growing.weights(trials).tolist() == at_once.tolist()
    growing.weights(trials[::-1])
    assert growing.weights(trials).tolist() == at_once.tolist()
    assert AdditiveLoss(CHAIN, 0.02, FLAT, seed=2).weights(trials).tolist() != at_once.tolist()


def test_emphasis_decides_who_is_blamed():
    """Of two sites that were only ever low together, the one that is thought to lose more gets the blame."""
    features = Features((2, 2), ())
    trials = [((1, 1), 1.0)] * 3
    emphasis = np.array([5.0, 0.5])
    found = [AdditiveLoss(features, 0.02, emphasis, seed).weights(trials) for seed in range(30)]
    first, second = np.mean(found, axis=0)
    assert first > 1.5 * second


def test_many_choices_are_one_array_in_their_order():
    """Choices as rows are the same numbers, none of them lost for being small, and nothing gives no row."""
    assert rows_of(EVERY, 3).tolist() == [list(choices) for choices in EVERY]
    assert rows_of([], 3).shape == (0, 3)


def test_a_site_that_may_not_go_low_has_no_column_and_does_no_harm():
    """Beside a site of float32 alone, which borders on others, losses are learnt as without it."""
    features = Features((2, 1, 2), ((0, 1), (1, 2)))
    choices = [(a, 0, b) for a in range(2) for b in range(2)] * 20
    history = [(c, 0.5 * c[0] + 0.1 * c[2]) for c in choices]
    weights = AdditiveLoss(features, 0.02, np.ones(features.single), seed=1).weights(history)
    assert features.of(np.array(choices)) @ weights == pytest.approx([lost for _, lost in history], abs=0.05)
