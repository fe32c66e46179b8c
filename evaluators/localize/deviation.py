"""How far one tensor of a policy's step is from its float32 twin, and how far it may be."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...policies.precision import FORMATS, Precision
from ..sensitivity.figures import rounded

# What an op may make of what its inputs deviate by already: the exponential's condition number is its argument,
# and float16 holds no power of e beyond 11.1. What cancels more than four bits is no longer explained.
GROWTH = 16.0
# What a cast may take from an op's input: gradients below float16's smallest normal number lose some bits, and
# train all the same.
LOST_IN_A_CAST = 0.25
# Below float32's smallest normal number there is nothing to be relative to.
_LEAST = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Deviation:
    """A tensor against its twin: the size of their difference, and of the twin (root mean squares).

    Values beyond the low precision's range are left out as long as they have the same sign: their size is the
    mask's or the format's. `finite`: what is finite and in range in the twin is finite here. `lost`: the share
    of the twin's nonzero values that are 0 here.
    """

    difference: float
    size: float
    largest: float
    finite: bool
    lost: float

    def relative(self, least_size: float = 0.0) -> float:
        """The difference over the twin's size, or over `least_size` where that is larger."""
        size = max(self.size, least_size)
        return self.difference / size if size > _LEAST else 0.0


def deviation(policy: np.ndarray, float32: np.ndarray, largest: float) -> Deviation:
    """Compare two tensors of one shape; `largest` is the low precision's largest value."""
    mine, twin = policy.astype(np.float64).ravel(), float32.astype(np.float64).ravel()
    sizes = np.abs(twin[np.isfinite(twin)])
    beyond = (np.abs(twin) > largest) & (np.signbit(mine) == np.signbit(twin)) & ~np.isnan(mine)
    comparable = np.isfinite(twin) & ~beyond
    mine, twin = mine[comparable], twin[comparable]
    finite = np.isfinite(mine)
    some = twin != 0
    return Deviation(
        difference=_size(mine[finite] - twin[finite]),
        size=_size(twin),
        largest=float(sizes.max(initial=0.0)),
        finite=bool(finite.all()),
        lost=float(np.mean(mine[some] == 0)) if some.any() else 0.0,
    )


def handed_on(values: np.ndarray, precision: str | None) -> np.ndarray:
    """What an op hands on: its kernel's values in the precision that it asked for."""
    if precision in ("float16", "bfloat16"):
        return rounded(values.astype(np.float32), precision)
    return values


def allowance(precision: Precision, summed_length: int | None, inputs: Sequence[float], kinked: bool) -> float:
    """The relative deviation that an op's precision and its inputs explain.

    Rounding: u for each op, and for a sum of n terms u sqrt(n), the probabilistic bound of N. J. Higham and T.
    Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41(5), 2019; u is half
    a unit in the last place of 1. What the inputs deviate by already may grow by GROWTH. At a kink (the gradient
    of ReLU or of a maximum) a share of the elements as large as that deviation flips, which is its root in the
    mean square.
    """
    unit = FORMATS[precision].epsilon / 2
    before = math.fsum(inputs)
    flipped = math.sqrt(before + unit) if kinked else 0.0
    return unit * math.sqrt(summed_length or 1) + GROWTH * (before + unit) + flipped


def _size(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
