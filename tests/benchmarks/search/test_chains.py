from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.search.chains import Chain, draw_chain
from halfwise.search.hypervolume import staircase
from halfwise.search.propose.cost_model import Choices

SEEDS = st.integers(0, 10_000)


def lost_by_hand(chain: Chain, choices: Choices) -> float:
    """The loss summed site by site and pair by pair."""
    alone = sum(lost for lost, low in zip(chain.lost, choices, strict=True) if low)
    return alone + sum(t for t, pair in zip(chain.lost_together, pairwise(choices), strict=True) if all(pair))


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 10), SEEDS)
def test_the_exact_front_is_that_of_all_policies(sites: int, seed: int):
    """Dynamic programming finds the very front that trying all 2^n policies finds."""
    chain = draw_chain(sites, seed)
    every = [(chain.costs.speedup(c), lost_by_hand(chain, c)) for c in product((0, 1), repeat=sites)]
    # Sums in another order differ by rounding, and may leave a policy that another one equals.
    expected = np.array(staircase((round(s, 12), round(lost, 12)) for s, lost in every))
    found = np.array(staircase((round(s, 12), round(lost, 12)) for s, lost in chain.exact_front()))
    assert found == pytest.approx(expected, abs=1e-11)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 40), SEEDS, st.data())
def test_a_policy_costs_and_loses_what_the_chain_says(sites: int, seed: int, data: st.DataObject):
    """Speed is that of gains and casts, loss that of sites and pairs, worked out here one by one."""
    chain = draw_chain(sites, seed)
    choices = tuple(data.draw(st.lists(st.integers(0, 1), min_size=sites, max_size=sites)))
    saved = sum(gain for gain, low in zip(chain.gain_s, choices, strict=True) if low)
    casts = sum(cast for cast, (a, b) in zip(chain.cast_s, pairwise(choices), strict=True) if a != b)
    assert chain.speedup(choices) == pytest.approx(2 / (2 - saved + casts))
    assert chain.quality_lost(choices) == pytest.approx(lost_by_hand(chain, choices))


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 150), SEEDS)
def test_everything_low_is_twice_as_fast_and_loses_one(sites: int, seed: int):
    """Float32 loses nothing; all low is fastest, loses most, and both are 1 away from float32."""
    chain = draw_chain(sites, seed)
    low = (1,) * sites
    assert (chain.speedup(low), chain.quality_lost(low)) == (pytest.approx(2), pytest.approx(1))
    assert (chain.speedup(chain.costs.float32), chain.quality_lost(chain.costs.float32)) == (1, 0)
    # One site more never loses less: its own loss outweighs its neighbour terms.
    together = np.concatenate(([0], chain.lost_together, [0]))
    assert np.all(chain.lost + np.minimum(together[:-1], 0) + np.minimum(together[1:], 0) >= -1e-12)
    # A cast takes at most a fifth of what the lesser of two neighbours gains.
    assert np.all(chain.cast_s <= 0.2 * np.minimum(chain.gain_s[1:], chain.gain_s[:-1]))


def test_a_seed_is_a_chain():
    """Equal arguments give equal chains, other seeds and lengths others."""
    assert draw_chain(20, 3).gain_s.tolist() == draw_chain(20, 3).gain_s.tolist()
    assert draw_chain(20, 3).gain_s.tolist() != draw_chain(20, 4).gain_s.tolist()
    assert draw_chain(20, 3).gain_s[0] != draw_chain(21, 3).gain_s[0]


def test_a_trial_sees_the_loss_with_fresh_noise_of_two_percent():
    """Observed losses of one policy scatter about its true one with a standard deviation of 0.02."""
    chain, rng = draw_chain(20, 0), np.random.default_rng(1)
    low = (1,) * 20
    seen = [chain.observe(low, rng) for _ in range(2000)]
    lost = np.array([observation.tried.quality_lost for observation in seen])
    # Five standard errors of a mean and of a standard deviation.
    assert lost.mean() == pytest.approx(1, abs=5 * 0.02 / np.sqrt(2000))
    assert lost.std() == pytest.approx(0.02, rel=5 / np.sqrt(2 * 2000))
    assert {observation.counted for observation in seen} == {1.0}
