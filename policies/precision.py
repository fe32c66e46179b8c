"""The precisions that a policy speaks of, and what their number formats can hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Precision = Literal["float32", "float16", "bfloat16"]
LowPrecision = Literal["float16", "bfloat16"]
RulePrecision = Literal["float32", "float16", "bfloat16", "auto"]

LOW_PRECISIONS: tuple[LowPrecision, ...] = get_args(LowPrecision)


@dataclass(frozen=True)
class NumberFormat:
    """A binary floating-point format as IEEE 754 builds it: sign, exponent, mantissa, infinities and NaN."""

    exponent_bits: int
    mantissa_bits: int

    @property
    def bias(self) -> int:
        """What is taken off the stored exponent; also the largest exponent of a finite value."""
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def max(self) -> float:
        """The largest finite value."""
        return (2.0 - self.epsilon) * 2.0**self.bias

    @property
    def smallest_normal(self) -> float:
        """The smallest positive value that has all its mantissa bits."""
        return 2.0 ** (1 - self.bias)

    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive value; anything below half of it rounds to zero."""
        return self.smallest_normal * self.epsilon

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next larger value."""
        return 2.0**-self.mantissa_bits


FORMATS: Mapping[Precision, NumberFormat] = MappingProxyType(
    {
        "float32": NumberFormat(exponent_bits=8, mantissa_bits=23),
        "float16": NumberFormat(exponent_bits=5, mantissa_bits=10),
        "bfloat16": NumberFormat(exponent_bits=8, mantissa_bits=7),
    }
)
