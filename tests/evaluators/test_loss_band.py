"""The rule that gives up a trial whose loss leaves float32's band."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.loss_band import BandWatch, LossBand, averages

STEPS = 80


def falling(seed: int, steps: int = STEPS) -> list[float]:
    """A loss that falls as trainings do, with the noise of batches and a pace of its own."""
    random = np.random.default_rng(seed)
    pace = steps / 5 * random.uniform(0.8, 1.25)
    return (0.2 + 2.1 * np.exp(-np.arange(steps) / pace) + random.normal(0, 0.15, steps)).tolist()


def leaves_at(band: LossBand, losses: list[float], skipped: frozenset[int] = frozenset()) -> int | None:
    """The step at which a training with these losses is given up; updates at the skipped steps are not applied."""
    watch, updates = BandWatch(band), 0
    for step, loss in enumerate(losses):
        if watch.leaves(loss, updates):
            return step
        updates += step not in skipped
    return None


BAND = LossBand(tuple(tuple(falling(seed)) for seed in (1, 2, 3)))


@pytest.mark.parametrize("seed", range(4, 54))
def test_another_seed_of_float32_is_never_given_up(seed: int) -> None:
    """Fifty more trainings of the same kind stay in the band that three of them make."""
    assert leaves_at(BAND, falling(seed)) is None


@pytest.mark.parametrize("seed", range(4, 14))
def test_float32_runs_that_agree_by_chance_make_no_narrow_band(seed: int) -> None:
    """Where the three repeats are all alike, another seed still has room: a share of what float32 has learnt."""
    assert leaves_at(LossBand((BAND.curves[0],) * 3), falling(seed)) is None


def test_a_loss_that_stays_up_is_given_up() -> None:
    """One that never falls is given up after the grace period and a whole window out of the band, not earlier."""
    step = leaves_at(BAND, [2.3] * STEPS)
    assert step is not None
    assert BAND.grace + BAND.patience - 1 <= step < 0.6 * STEPS


def test_a_training_that_diverges_late_is_given_up() -> None:
    """One that follows float32 and then climbs back to where it began is given up soon after."""
    losses = falling(4)
    losses[50:] = [2.3] * 30
    step = leaves_at(BAND, losses)
    assert step is not None
    assert 50 + BAND.patience <= step < 50 + 3 * BAND.window


def test_a_short_peak_is_forgiven() -> None:
    """A few wild losses, fewer than a window, end nothing."""
    losses = falling(4)
    peak = BAND.window - 1
    losses[40 : 40 + peak] = [30.0] * peak
    assert leaves_at(BAND, losses) is None


def test_skipped_updates_only_delay() -> None:
    """While a loss scale is found nothing is trained: the trial is as far as float32 was so many steps before."""
    skips = 20
    losses = [2.3] * skips + falling(4)[: STEPS - skips]
    assert leaves_at(BAND, losses, frozenset(range(skips))) is None


def test_without_float32_nothing_is_given_up() -> None:
    """No curves, no band; beyond the end of all curves there is none either."""
    assert leaves_at(LossBand(), [1e9] * STEPS) is None
    assert BAND.limit(STEPS) is None
    assert BAND.limit(STEPS - 1) is not None


def test_a_longer_curve_of_one_seed_carries_the_band_on() -> None:
    """Where only one seed was trained longer, its losses and the spread that was last seen make the band."""
    longer = falling(1, steps=200)
    band = LossBand((*BAND.curves, tuple(longer)))
    assert leaves_at(band, falling(4, steps=200)) is None
    assert leaves_at(band, [*falling(4, steps=200)[:150], *[2.3] * 50]) is not None


@given(
    st.lists(st.lists(st.floats(-100, 100), min_size=8, max_size=60), min_size=1, max_size=4),
    st.integers(0, 3),
    st.floats(-1000, 1000),
)
def test_a_training_like_one_of_float32s_is_never_given_up(curves, chosen, shift) -> None:
    """A trial with the very losses of one of the seeds stays in, wherever the loss has its zero."""
    curve = curves[chosen % len(curves)]
    shifted = LossBand(tuple(tuple(loss + shift for loss in each) for each in curves))
    assert leaves_at(shifted, [loss + shift for loss in curve]) is None


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=40), st.integers(1, 12))
def test_averages_are_those_of_the_last_losses(losses, window) -> None:
    """Each average is the mean of the last `window` values, of fewer at the beginning."""
    expected = [np.mean(losses[max(0, end - window) : end]) for end in range(1, len(losses) + 1)]
    assert averages(losses, window) == pytest.approx(expected, abs=1e-9)
