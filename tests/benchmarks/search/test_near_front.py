from itertools import product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.search.tables.near_front import near_front, noise_of, points_apart
from halfwise.search.hypervolume import staircase

LOST = st.floats(0, 1, allow_nan=False)
POLICIES = list(product((0, 1), repeat=3))


@st.composite
def tables(draw):
    """Speed-ups and losses by seed of some of eight policies."""
    chosen = draw(st.lists(st.sampled_from(POLICIES), min_size=1, unique=True))
    speedups = {policy: draw(st.sampled_from((1.0, 1.2, 1.5, 2.0))) for policy in chosen}
    return speedups, {policy: draw(st.lists(LOST, min_size=1, max_size=3)) for policy in chosen}


@given(tables(), st.floats(0, 0.2))
def test_near_the_front_is_what_no_other_policy_clearly_beats(table, noise: float):
    """Brute force over all pairs says the same, and what it keeps is in the order of speed."""
    speedups, lost = table

    def beats(a, b) -> bool:
        margin = 2 * noise * (1 / len(lost[a]) + 1 / len(lost[b])) ** 0.5
        return speedups[a] >= speedups[b] and fmean(lost[b]) - fmean(lost[a]) > margin

    kept = near_front(speedups, lost, noise)
    assert set(kept) == {b for b in lost if not any(beats(a, b) for a in lost)}
    assert [speedups[policy] for policy in kept] == sorted((speedups[policy] for policy in kept), reverse=True)


@given(tables())
def test_the_exact_front_is_near_the_front(table):
    """Nothing of the staircase is left out, and without noise what else is kept loses as little as it does."""
    speedups, lost = table
    places = {policy: (speedups[policy], fmean(lost[policy])) for policy in lost}
    front = staircase(places.values())
    assert set(front) <= {places[policy] for policy in near_front(speedups, lost, 0.1)}
    kept = {places[policy][1] for policy in near_front(speedups, lost, 0.0)}
    assert kept == {least for _, least in front}


def test_noise_is_pooled_over_policies_with_several_seeds():
    """Variances 2 of two seeds and 4 of three weigh by their degrees of freedom; a single seed says nothing."""
    assert noise_of([(1.0, 3.0), (0.0, 2.0, 4.0), (9.0,)]) == pytest.approx(((2 * 1 + 4 * 2) / 3) ** 0.5)
    assert noise_of([(9.0,), (1.0,)]) == 0.0


def test_points_count_from_the_last_one_that_counted():
    """With a noise of 1 and four seeds each, means must lie more than 1.42 apart: of 9, 8, 7.5, 5 three do."""
    assert points_apart([[mean] * 4 for mean in (9.0, 8.0, 7.5, 5.0)], 1.0) == 3
    assert points_apart([], 1.0) == 0
