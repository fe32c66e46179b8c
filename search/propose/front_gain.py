"""How much a policy would add to a front: the area of quality and speed that no policy has covered yet."""

from collections.abc import Sequence

import numpy as np

from .arrays import Floats


def front_gain(speedups: Floats, lost: Floats, known: Sequence[tuple[float, float]], worst_lost: float) -> Floats:
    """The area that each (speed-up, quality lost) adds to the known ones: (n,).

    Areas count from float32's speed (1) and from a quality lost of `worst_lost`; points beyond add nothing.
    """
    lows, highs, heights = _stairs(known, worst_lost)
    width = np.clip(np.minimum(speedups[:, None], highs) - lows, 0, None)
    height = np.clip((worst_lost - lost)[:, None] - heights, 0, None)
    return (width * height).sum(axis=1)


def _stairs(known: Sequence[tuple[float, float]], worst_lost: float) -> tuple[Floats, Floats, Floats]:
    """Steps over speed: from, to, and the height that is covered there; the last one is open and bare."""
    points = sorted((s, worst_lost - lost) for s, lost in known if s > 1 and lost < worst_lost)
    edges = np.array([1.0, *(speed for speed, _ in points), np.inf])
    # A policy covers all speeds up to its own.
    heights = np.array([*(height for _, height in points), 0.0])
    covered = np.maximum.accumulate(heights[::-1])[::-1]
    return edges[:-1], edges[1:], covered
