import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from halfwise.policies.errors import HalfwiseError
from halfwise.search.noise import Noise, QualityLost

DIFFERENCES = st.lists(st.floats(-10, 10).map(lambda value: round(value, 6)), min_size=2, max_size=8)


@given(DIFFERENCES)
def test_the_interval_of_fresh_seeds_is_scipys(differences: list[float]) -> None:
    """Mean and interval are those of scipy's Student t of the differences."""
    lost = QualityLost.of_fresh_seeds(differences)
    assert lost.mean == pytest.approx(statistics.fmean(differences))
    assert lost.confirmed
    assert lost.seeds == len(differences)
    if len(set(differences)) > 1:
        expected = stats.t.interval(0.95, len(differences) - 1, loc=lost.mean, scale=stats.sem(differences))
        assert (lost.low, lost.high) == pytest.approx(expected)
    else:
        assert lost.half_width == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("repeats", [2, 3, 5, 30])
def test_the_margin_of_one_seed_is_students_t_times_the_spread(repeats: int) -> None:
    """A spread that is known from a few repeats makes the interval wide, as Student's t has it."""
    noise = Noise(0.01, repeats)
    assert noise.margin == pytest.approx(0.01 * stats.t.ppf(0.975, repeats - 1))
    lost = QualityLost.of_one_seed(0.02, noise)
    assert (lost.low, lost.high) == pytest.approx((0.02 - noise.margin, 0.02 + noise.margin))
    assert not lost.confirmed


def test_intervals_hold_what_they_claim() -> None:
    """Of 400 draws of three normal differences 95% of intervals hold the true mean, within five deviations."""
    draws = np.random.default_rng(0).normal(0.3, 0.1, size=(400, 3))
    intervals = [QualityLost.of_fresh_seeds(draw.tolist()) for draw in draws]
    held = sum((each.low or 0) <= 0.3 <= (each.high or 0) for each in intervals)
    assert abs(held - 380) <= 5 * math.sqrt(400 * 0.95 * 0.05)


def test_a_loss_in_words() -> None:
    """Words and tables say the mean, the interval, and what it rests on; without noise no interval is made up."""
    confirmed = QualityLost(0.0012, 0.0022, 3, confirmed=True)
    assert str(confirmed) == "0.0012 (95% interval -0.001 to 0.0034, 3 fresh seeds)"
    assert confirmed.short == "0.0012 ± 0.0022"
    alone = QualityLost.of_one_seed(-0.001, None)
    assert (alone.low, alone.high) == (None, None)
    assert str(alone) == "-0.001 (one seed, noise not known)"
    assert alone.short == "-0.001"


@pytest.mark.parametrize(("spread", "repeats"), [(0.1, 1), (-0.1, 3), (math.nan, 3), (math.inf, 3)])
def test_noise_that_has_no_interval_is_refused(spread: float, repeats: int) -> None:
    """One repeat has no spread, and a spread is a finite number of at least 0."""
    with pytest.raises(HalfwiseError, match="at least 2 repeats and a finite spread >= 0"):
        Noise(spread, repeats)


def test_one_difference_has_no_interval_of_its_own() -> None:
    """A confirmation with one seed is refused: nothing would be known of its spread."""
    with pytest.raises(HalfwiseError, match="at least 2 seeds, but got 1"):
        QualityLost.of_fresh_seeds([0.1])
