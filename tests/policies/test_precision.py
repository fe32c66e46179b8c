import itertools
import math

import numpy as np
import pytest

from halfwise.policies import FORMATS, NumberFormat


def values_of(number_format: NumberFormat) -> list[float]:
    """Every non-negative finite value, decoded bit by bit as IEEE 754 says."""
    exponents = range(2**number_format.exponent_bits - 1)
    mantissas = range(2**number_format.mantissa_bits)
    bias = 2 ** (number_format.exponent_bits - 1) - 1
    values: list[float] = []
    for exponent, mantissa in itertools.product(exponents, mantissas):
        fraction = mantissa / 2**number_format.mantissa_bits
        if exponent == 0:
            values.append(math.ldexp(fraction, 1 - bias))
        else:
            values.append(math.ldexp(1 + fraction, exponent - bias))
    return values


@pytest.mark.parametrize("bits", [(2, 1), (3, 2), (4, 3), (5, 10)])
def test_figures_agree_with_every_value_of_the_format(bits: tuple[int, int]) -> None:
    """The derived figures are those that one finds by walking all values."""
    number_format = NumberFormat(*bits)
    values = values_of(number_format)
    assert values == sorted(set(values))
    assert number_format.max == values[-1]
    assert number_format.smallest_subnormal == values[1]
    assert number_format.smallest_normal == values[2**number_format.mantissa_bits]
    assert number_format.epsilon == values[values.index(1.0) + 1] - 1.0


def test_float16_and_float32_have_the_figures_of_numpy() -> None:
    """NumPy knows both formats: range, smallest values and spacing agree."""
    for number_format, info in [
        (FORMATS["float16"], np.finfo(np.float16)),
        (FORMATS["float32"], np.finfo(np.float32)),
    ]:
        assert number_format.max == float(info.max)
        assert number_format.smallest_normal == float(info.tiny)
        assert number_format.smallest_subnormal == float(info.smallest_subnormal)
        assert number_format.epsilon == float(info.eps)


def test_bfloat16_has_the_range_of_float32_and_eight_bits_of_precision() -> None:
    """bfloat16 is float32 without its lower 16 bits."""
    assert FORMATS["bfloat16"].max == (2 - 2**-7) * 2.0**127
    assert FORMATS["bfloat16"].smallest_normal == FORMATS["float32"].smallest_normal
    assert FORMATS["bfloat16"].epsilon == 2**-7
