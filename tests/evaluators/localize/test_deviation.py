"""Deviations and allowances: what precision explains, and what it doesn't."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfwise.evaluators.localize.deviation import allowance, deviation, handed_on
from halfwise.policies import FORMATS

LARGEST = FORMATS["float16"].max
IN_RANGE = st.floats(-60000, 60000, width=32).filter(lambda x: x == 0 or abs(x) > 1e-4)


def low(values: np.ndarray) -> np.ndarray:
    """The values in float16."""
    return values.astype(np.float16)


@given(arrays(np.float32, st.integers(1, 30), elements=IN_RANGE))
def test_rounding_is_explained(values):
    """What float16 holds with all its bits is nearer to float32 than the allowance of one op."""
    found = deviation(low(values), values, LARGEST)
    assert found.finite
    assert found.relative() <= FORMATS["float16"].epsilon / 2
    assert found.relative() < allowance("float16", None, [], kinked=False)


@pytest.mark.parametrize("terms", [10, 1000, 20000])
def test_a_long_sum_in_float16_is_explained(terms):
    """Sums that add up in float16, one term after the other, stay within the allowance for their length."""
    random = np.random.default_rng(terms)
    values = random.normal(size=(50, terms)).astype(np.float32)
    sums = np.add.accumulate(low(values), axis=1, dtype=np.float16)[:, -1]
    found = deviation(sums, values.sum(1), LARGEST)
    inputs = [deviation(low(values), values, LARGEST).relative()]
    assert found.relative() <= allowance("float16", terms, inputs, kinked=False)


def test_a_difference_of_large_numbers_is_not_explained():
    """Numbers of 40,000 and more, 16 apart at most: float16 leaves nothing of their difference."""
    random = np.random.default_rng(1)
    first = random.integers(40_000, 60_000, 200).astype(np.float32)
    second = first + random.integers(1, 16, 200).astype(np.float32)
    inputs = [deviation(low(x), x, LARGEST).relative() for x in (first, second)]
    found = deviation(low(second) - low(first), second - first, LARGEST)
    assert found.relative() > 10 * allowance("float16", None, inputs, kinked=False)


def test_underflow_is_not_explained():
    """Values below float16's smallest number are 0 there: the deviation is 1, and all is lost."""
    values = np.full(5, 1e-9, np.float32)
    found = deviation(low(values), values, LARGEST)
    assert (found.relative(), found.lost) == (1.0, 1.0)
    assert found.relative() > allowance("float16", None, [], kinked=True)


@pytest.mark.parametrize(
    ("policy", "float32", "finite"),
    [
        pytest.param([1, np.nan], [1, 2], False, id="nan"),
        pytest.param([1, np.inf], [1, 2], False, id="infinite where float32 is in range"),
        pytest.param([1, -np.inf], [1, -1e9], True, id="beyond the range as float32 is"),
        pytest.param([1, np.inf], [1, -1e9], False, id="beyond the range on the other side"),
        pytest.param([1, np.nan], [1, -1e9], False, id="nan where float32 is beyond the range"),
        pytest.param([1, np.nan], [1, np.nan], True, id="nan in float32 too"),
    ],
)
def test_not_finite_is_what_float32_is_not(policy, float32, finite):
    """A value counts as not finite where float32's is finite, unless float16 can hold neither."""
    found = deviation(np.array(policy, np.float16), np.array(float32, np.float32), LARGEST)
    assert found.finite is finite


def test_beyond_the_range_counts_for_no_size():
    """A mask's -1e9 hides no deviation of the values beside it."""
    found = deviation(np.array([-np.inf, 3.0]), np.array([-1e9, 2.0]), LARGEST)
    assert found.relative() == pytest.approx(0.5)


def test_a_sum_that_cancels_is_held_to_the_size_of_its_terms():
    """Where the result is nearly 0, a given least size keeps noise from looking like a departure."""
    noise = deviation(np.array([1e-4]), np.array([1e-9]), LARGEST)
    assert noise.relative(least_size=1.0) == pytest.approx(1e-4, rel=1e-3)


@given(st.lists(st.floats(0, 1), max_size=3), st.floats(0, 1), st.booleans(), st.integers(1, 10**6))
def test_the_allowance_grows_with_what_explains_it(inputs, more, kinked, terms):
    """More deviation of the inputs, longer sums, kinks and fewer bits never make it smaller."""
    base = allowance("float16", terms, inputs, kinked)
    assert allowance("float16", terms, [*inputs, more], kinked) >= base
    assert allowance("float16", 2 * terms, inputs, kinked) >= base
    assert allowance("float16", terms, inputs, kinked=True) >= base
    assert allowance("bfloat16", terms, inputs, kinked) > base > allowance("float32", terms, inputs, kinked)


def test_a_wider_kernel_hands_on_what_was_asked():
    """What a float32 kernel gives for a float16 op is rounded as the cast behind it does."""
    given_, asked = np.array([1 + 2.0**-12, 1e5], np.float32), np.array([1, np.inf])
    np.testing.assert_array_equal(handed_on(given_, "float16"), asked)
    np.testing.assert_array_equal(handed_on(given_, "float32"), given_)
