"""Axes of a report's pictures: from figures to places, and round numbers between two ends."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A straight line from `low`, `high` to the places `start`, `end`, in pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value; what lies outside is put at the nearer end."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 1)

    def holds(self, value: float) -> bool:
        """Whether a value lies between the ends."""
        return self.low <= value <= self.high

    def ticks(self, about: int = 6) -> tuple[float, ...]:
        """Round numbers between the ends, about so many: multiples of 1, 2 or 5 times a power of ten."""
        rough = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return tuple(round(number * step, 12) for number in range(first, last + 1))


def scale_around(values: list[float], start: float, end: float, margin: float = 0.06) -> Scale:
    """A scale that shows all finite values, with a margin; equal values, or none, get room around them."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = (high - low) * margin or max(abs(high) * 0.1, 1e-9)
    return Scale(low - room, high + room, start, end)
