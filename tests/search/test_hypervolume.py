import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.errors import HalfwiseError
from halfwise.search.hypervolume import anytime_hypervolume, hypervolume, staircase

# A coarse grid, so that ties are frequent and areas are counts of cells.
PLACES = st.lists(st.tuples(st.integers(0, 6).map(float), st.integers(0, 6).map(float)), max_size=10)


@given(PLACES)
def test_the_staircase_is_what_pairwise_comparison_leaves(places):
    """A place is on the staircase exactly if no other one is as fast and loses as little."""
    stairs = staircase(places)
    beaten = {p for p in places for q in places if q != p and q[0] >= p[0] and q[1] <= p[1]}
    assert set(stairs) == set(places) - beaten
    assert list(stairs) == sorted(stairs, reverse=True)


@given(PLACES, st.tuples(st.integers(0, 6).map(float), st.integers(0, 6).map(float)))
def test_the_area_is_the_number_of_cells_that_some_place_covers(places, reference):
    """On a grid, a cell counts if a place is as fast as its far edge and loses no more than its near one."""
    cells = sum(
        any(speed >= x + 1 and lost <= y for speed, lost in places)
        for x in range(int(reference[0]), 6)
        for y in range(int(reference[1]))
    )
    assert hypervolume(places, reference) == cells


def test_the_area_agrees_with_a_draw_of_points():
    """Of points drawn evenly, the share that some place covers is the area, within five standard errors."""
    rng = np.random.default_rng(5)
    places = [tuple(place) for place in rng.uniform((1, 0), (2, 1), (12, 2)).tolist()]
    draws = rng.uniform((1, 0), (2, 1), (40_000, 2))
    covered = np.any([(draws[:, 0] <= speed) & (draws[:, 1] >= lost) for speed, lost in places], axis=0)
    error = 5 * math.sqrt(0.25 / len(draws))
    assert hypervolume(places, (1.0, 1.0)) == pytest.approx(covered.mean(), abs=error)


@given(st.lists(st.none() | st.tuples(st.floats(0, 3), st.floats(-1, 1)), max_size=12))
def test_the_area_after_each_trial_is_that_of_the_trials_so_far(places):
    """Kept up trial by trial, the area is what all places so far cover; one that did not train adds nothing."""
    expected = [
        hypervolume([place for place in places[: end + 1] if place is not None], (1.0, 1.0))
        for end in range(len(places))
    ]
    assert list(anytime_hypervolume(places, (1.0, 1.0))) == pytest.approx(expected)


def test_a_reference_that_is_not_finite_is_refused():
    """An infinite reference would make every area infinite."""
    with pytest.raises(HalfwiseError, match=r"two finite numbers \(speed, quality lost\), but got \(1.0, inf\)"):
        hypervolume([], (1.0, math.inf))
