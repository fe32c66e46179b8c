"""The inputs of their own that some groups have, and what the targets hold of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

TABLE_ROWS = 8192

Random = np.random.Generator


@dataclass(frozen=True)
class Side:
    """One input with a row a sample, and the target (samples,) that can be told from it alone, if any."""

    values: np.ndarray
    target: np.ndarray | None = None


def _mask(random: Random, samples: int) -> Side:
    mask = (random.random((samples, 16)) < 0.7).astype(np.float32)
    # A sample that sees nothing would be another fault.
    mask[:, 0] = 1.0
    return Side(mask)


def _measurements(random: Random, samples: int) -> Side:
    return Side(random.uniform(200, 2000, (samples, 8)))


def _scores(random: Random, samples: int) -> Side:
    return Side(random.uniform(9, 13, (samples, 8)))


def _probabilities(random: Random, samples: int) -> Side:
    probabilities = random.random((samples, 8))
    return Side(np.where(random.random((samples, 8)) < 0.3, 0.0, probabilities))


def _vectors(random: Random, samples: int) -> Side:
    return Side(300 * random.normal(size=(samples, 16)))


def _counts(random: Random, samples: int) -> Side:
    return Side(random.integers(200, 301, (samples, 512)))


def _directed(random: Random, samples: int) -> Side:
    # Wide, so that the small weights that a short training reaches tell it.
    given, direction = 4 * random.normal(size=(samples, 8)), random.normal(size=8)
    return Side(given, np.tanh(given @ direction / np.linalg.norm(direction) / 4))


def _positions(random: Random, samples: int) -> Side:
    first, apart = random.integers(40_000, 60_000, samples), random.integers(0, 16, samples)
    return Side(np.stack([first, first + apart], 1), apart)


def _saturated(random: Random, samples: int) -> Side:
    scores = random.uniform(9, 11, (samples, 1))
    return Side(scores, np.exp(-scores[:, 0]))


def _around_100(random: Random, samples: int) -> Side:
    deviation = random.uniform(0.5, 2, (samples, 1))
    given = (100 + deviation * random.normal(size=(samples, 4))).astype(np.float32)
    return Side(given, given.astype(np.float64).var(1))


def _wide(place: int, random: Random, samples: int) -> Side:
    # A what-if price takes two inputs of one shape for one value: every group gets a width of its own.
    return Side(random.normal(size=(samples, 2000 + place)))


def _row_numbers(random: Random, samples: int) -> Side:
    return Side(random.integers(0, TABLE_ROWS, samples, dtype=np.int32))


_MAKERS: Mapping[str, Callable[[Random, int], Side]] = MappingProxyType(
    {
        "masked_product": _mask,
        "square": _measurements,
        "exponent": _scores,
        "log_epsilon": _probabilities,
        "norm": _vectors,
        "reduction": _counts,
        "vanishing": _directed,
        "positions": _positions,
        "saturation": _saturated,
        "variance": _around_100,
        "lookup": _row_numbers,
    }
)


def side_of(kind: str, place: int, random: Random, samples: int) -> Side | None:
    """The own input of the group at a place, in float32 (row numbers in int32); None if it has none."""
    if kind == "summary":
        side = _wide(place, random, samples)
    elif kind in _MAKERS:
        side = _MAKERS[kind](random, samples)
    else:
        return None
    dtype = np.int32 if side.values.dtype == np.int32 else np.float32
    return Side(side.values.astype(dtype), side.target)
