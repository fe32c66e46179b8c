"""Reduces the values of one tensor to a few figures."""

import math
from dataclasses import dataclass

import numpy as np

from ...policies.precision import FORMATS, LOW_PRECISIONS, LowPrecision

# A rounding error of more than this share of what varies is a loss of detail.
_DETAIL = 0.05
# Float32 itself holds no larger whole numbers one by one.
_LARGEST_COUNT = 2.0**24
_FLOAT16 = FORMATS["float16"]


@dataclass(frozen=True)
class Figures:
    """One tensor at one step, divided by the loss scale where it is a gradient.

    `exponents[i]` values have the binary exponent `first_exponent + i`: 2^e <= |value| < 2^(e + 1). Values that
    are 0 or not finite are in none. `detail_lost` holds a share for each precision it was asked for, None where
    nothing varies.
    """

    largest: float
    beyond_float16: float
    first_exponent: int
    exponents: np.ndarray
    detail_lost: dict[LowPrecision, float | None]

    def below_normal(self, loss_scale: float = 1.0) -> float:
        """The share of nonzero values that a loss scale leaves below float16's smallest normal number."""
        return self._below(_FLOAT16.smallest_normal, loss_scale)

    def below_subnormal(self, loss_scale: float = 1.0) -> float:
        """The same for float16's smallest number of all."""
        return self._below(_FLOAT16.smallest_subnormal, loss_scale)

    def _below(self, limit: float, loss_scale: float) -> float:
        """Exact where limit over scale is a power of two, else for the next one below."""
        count = int(self.exponents.sum())
        smaller = max(math.floor(math.log2(limit / loss_scale)) - self.first_exponent, 0)
        return float(self.exponents[:smaller].sum()) / count if count else 0.0


def figures(values: np.ndarray, loss_scale: float = 1.0, detail: bool = False) -> Figures:
    """The figures of one tensor of floats, (batch, ...); with `detail`, what rounding does to its differences."""
    unscaled = values.astype(np.float64) / loss_scale
    sizes = np.abs(unscaled[np.isfinite(unscaled)])
    exponents = np.frexp(sizes[sizes > 0])[1] - 1
    first = int(exponents.min()) if exponents.size else 0
    lost: dict[LowPrecision, float | None] = (
        {precision: detail_lost(values, precision) for precision in LOW_PRECISIONS} if detail else {}
    )
    return Figures(
        largest=float(sizes.max()) if sizes.size else 0.0,
        beyond_float16=float(np.mean(sizes > _FLOAT16.max)) if sizes.size else 0.0,
        first_exponent=first,
        exponents=np.bincount(exponents - first) if exponents.size else np.zeros(0, np.int64),
        detail_lost=lost,
    )


def detail_lost(values: np.ndarray, precision: LowPrecision) -> float | None:
    """The share of varying values that rounding moves by much of their spread; None if nothing varies.

    A value varies when its place has a spread over the batch (the first axis); where no place has one, the whole
    tensor's spread counts. Of whole numbers up to 2^24, those that become another one count too. Values that the
    format cannot hold at all are left out: that is a matter of range.
    """
    spread = _spread(values)
    held = np.isfinite(values) & (np.abs(values) <= FORMATS[precision].max) & (spread > 0)
    if not held.any():
        return None
    kept = values[held].astype(np.float64)
    error = np.abs(rounded(values[held], precision) - kept)
    share = float(np.mean(error > _DETAIL * np.broadcast_to(spread, values.shape)[held]))
    counts = np.all(kept == np.round(kept)) and np.abs(kept).max() <= _LARGEST_COUNT
    return max(share, float(np.mean(error > 0))) if counts else share


def rounded(values: np.ndarray, precision: LowPrecision) -> np.ndarray:
    """Float32 values to the nearest that the precision has, ties to even, as float64; inf beyond its range."""
    if precision == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float64)
    # bfloat16 is the upper half of a float32's bits.
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    upper = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    return upper.astype(np.uint32).view(np.float32).astype(np.float64)


def _spread(values: np.ndarray) -> np.ndarray:
    """The standard deviation at each place over the batch, or the whole tensor's where no place has one."""
    with np.errstate(invalid="ignore", over="ignore"):
        wide = values.astype(np.float64)
        places = wide.std(axis=0) if values.ndim > 1 else np.zeros(())
        return places if np.any(places > 0) else np.asarray(wide.std())
