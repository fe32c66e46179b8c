"""Which policies of a measured network need a closer look, and how many points of its front noise tells apart."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from halfwise.search.propose.cost_model import Choices

# Two figures differ where they lie this many standard deviations of their difference apart.
_DEVIATIONS = 2.0


def near_front(
    speedups: Mapping[Choices, float], lost: Mapping[Choices, Sequence[float]], noise: float
) -> tuple[Choices, ...]:
    """The policies that no other one clearly beats, fastest first.

    `lost` has the quality lost by seed of each policy that trains. One that is as fast or faster beats clearly
    when its mean is lower by more than two standard deviations of what noise makes of the difference.
    """
    kept: list[Choices] = []
    faster: list[tuple[float, int]] = []
    for choices in sorted(lost, key=lambda policy: (-speedups[policy], statistics.fmean(lost[policy]))):
        mean, seeds = statistics.fmean(lost[choices]), len(lost[choices])
        if not any(mean - other > _margin(noise, seeds, others) for other, others in faster):
            kept.append(choices)
        faster.append((mean, seeds))
    return tuple(kept)


def noise_of(lost: Iterable[Sequence[float]]) -> float:
    """The standard deviation of one seed's quality lost, pooled over policies with several; 0 without any."""
    repeated = [values for values in lost if len(values) > 1]
    freedom = sum(len(values) - 1 for values in repeated)
    squares = sum(statistics.variance(values) * (len(values) - 1) for values in repeated)
    return math.sqrt(squares / freedom) if freedom else 0.0


def points_apart(front: Sequence[Sequence[float]], noise: float) -> int:
    """How many points of a front noise tells apart, each from the one counted before it.

    `front` has the quality lost by seed of each point, fastest first, so that the means fall.
    """
    apart: list[Sequence[float]] = []
    for lost in front:
        if not apart or _differ(apart[-1], lost, noise):
            apart.append(lost)
    return len(apart)


def _differ(a: Sequence[float], b: Sequence[float], noise: float) -> bool:
    return abs(statistics.fmean(a) - statistics.fmean(b)) > _margin(noise, len(a), len(b))


def _margin(noise: float, seeds: int, others: int) -> float:
    return _DEVIATIONS * noise * math.sqrt(1 / seeds + 1 / others)
