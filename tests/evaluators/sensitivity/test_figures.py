"""Figures of tensors against NumPy's own float16 and counts written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from halfwise.evaluators.sensitivity.figures import detail_lost, figures, rounded

FLOATS = hnp.arrays(
    np.float32, hnp.array_shapes(max_dims=3, max_side=6), elements=st.floats(-1e9, 1e9, width=32) | st.just(0.0)
)


@given(values=FLOATS, bits=st.integers(0, 24))
def test_shares_are_counts(values, bits):
    """Largest value and shares are what counting gives, at any loss scale that is a power of two."""
    found, scale = figures(values), 2.0**bits
    sizes = np.abs(values.astype(np.float64))
    nonzero = sizes[sizes > 0]
    assert found.largest == sizes.max()
    assert found.beyond_float16 == np.mean(sizes > 65504)
    for share, limit in ((found.below_normal(scale), 2.0**-14), (found.below_subnormal(scale), 2.0**-24)):
        assert share == pytest.approx(np.mean(nonzero * scale < limit) if nonzero.size else 0.0)


@given(values=FLOATS, bits=st.integers(0, 16))
def test_a_scaled_gradient_has_the_figures_of_the_unscaled_one(values, bits):
    """The loss scale that a gradient was multiplied by is taken off again."""
    plain, scaled = figures(values), figures(values.astype(np.float64) * 2**bits, loss_scale=2.0**bits)
    assert (scaled.largest, scaled.beyond_float16) == (plain.largest, plain.beyond_float16)
    assert scaled.below_normal() == plain.below_normal()


def test_a_scale_that_is_no_power_of_two_counts_as_one():
    """The limit is taken at the next power of two below: 2^-24 / 3 at 2^-26."""
    values = np.array([2.0**-26, 1.2 * 2.0**-26, 2.0**-27], np.float32)
    assert figures(values).below_subnormal(3.0) == pytest.approx(1 / 3)


def test_values_that_are_not_finite_are_left_out():
    """NaN and infinity change no figure; a tensor of nothing else has none."""
    values = np.array([1.0, np.nan, np.inf, 70000.0], np.float32)
    assert (figures(values).largest, figures(values).beyond_float16) == (70000.0, 0.5)
    assert figures(np.array([np.nan], np.float32)).largest == 0.0


# Float32 bit patterns: any upper half over lower halves that round down, up, and lie in the middle.
BITS = st.builds(
    lambda upper, lower: upper << 16 | lower, st.integers(0, 65535), st.sampled_from([0, 32767, 32768, 32769])
)


@given(hnp.arrays(np.uint32, 20, elements=BITS))
def test_rounding_to_bfloat16_is_to_nearest_even(bits):
    """Of the two bfloat16 neighbours of a float32 the nearer one is taken, of two equally near the even one."""
    values = bits.view(np.float32)
    values = values[np.isfinite(values) & (np.abs(values) < 3e38)]
    below = (values.view(np.uint32) & np.uint32(0xFFFF0000)).astype(np.uint32)
    above = below + np.uint32(0x10000)
    low, high = (each.view(np.float32).astype(np.float64) for each in (below, above))
    exact = values.astype(np.float64)
    even = (below >> 16) % 2 == 0
    expected = np.where(
        abs(exact - low) == abs(high - exact),
        np.where(even, low, high),
        np.where(abs(exact - low) < abs(high - exact), low, high),
    )
    assert np.array_equal(rounded(values, "bfloat16"), expected)


def test_timestamps_lose_their_differences():
    """Values far from 0 with a small spread lose detail; the same spread around 0 does not."""
    spread = np.random.default_rng(0).normal(size=(256, 3)).astype(np.float32)
    assert detail_lost(spread, "float16") == 0.0
    assert (detail_lost(spread + 5000, "float16") or 0) > 0.9
    assert (detail_lost(spread + 50, "bfloat16") or 0) > 0.5
    assert detail_lost(spread + 50, "float16") == 0.0


def test_positions_beyond_2048_lose_whole_numbers():
    """Of 0 to 4095, float16 changes every odd number beyond 2,048; bfloat16 loses far more."""
    positions = np.arange(4096, dtype=np.float32)
    assert detail_lost(positions, "float16") == pytest.approx(1024 / 4096)
    assert detail_lost(positions, "bfloat16") == pytest.approx(
        (256 / 2 * 1 + 512 * 3 / 4 + 1024 * 7 / 8 + 2048 * 15 / 16) / 4096
    )


def test_what_the_format_cannot_hold_is_a_matter_of_range():
    """A mask of 0 and -1e9 loses no detail, and nothing is known of a tensor in which nothing varies."""
    mask = np.array([[0.0, -1e9], [-1e9, 0.0]], np.float32)
    assert detail_lost(mask, "float16") == 0.0
    assert detail_lost(np.full((4, 4), 1234.567, np.float32), "float16") is None
