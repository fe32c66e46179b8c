"""The Pareto front of quality against speed: the policies that no other one beats in both."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..policies.errors import HalfwiseError
from .hypervolume import hypervolume as area_covered
from .noise import QualityLost

Direction = Literal["maximize", "minimize"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a measured speed over float32's, with 95% confidence; conclusive where they are narrow enough."""

    low: float
    high: float
    conclusive: bool

    def __str__(self) -> str:
        """Such as "0.82 to 0.85" or "0.6 to 1.4, inconclusive"."""
        return f"{self.low:.2f} to {self.high:.2f}{'' if self.conclusive else ', inconclusive'}"


@dataclass(frozen=True, slots=True)
class Point:
    """What one trial came to: quality in the metric's own unit, speed in samples per second.

    A feasible point has both figures. An infeasible one (it does not train, did not run, or needs too much
    memory) may lack them and says why in `cause`. `against_float32` bounds the speed over float32's where it was
    measured side by side. `quality_lost` is the paired difference to float32, where float32 trained: policies are
    then compared by it, since their own qualities may come from other seeds and lengths. Figures are finite: a
    point with NaN or infinity cannot be made.

    Raises:
        HalfwiseError: a figure is NaN or infinite, or a feasible point lacks one.
    """

    number: int
    name: str | None
    digest: str
    quality: float | None
    speed: float | None
    feasible: bool = True
    cause: str | None = None
    against_float32: Interval | None = None
    quality_lost: QualityLost | None = None

    def __post_init__(self) -> None:
        """Check the figures once, so that nothing that reads points has to."""
        lost = 0.0 if self.quality_lost is None else self.quality_lost.mean
        for what, value in (("quality", self.quality), ("speed", self.speed), ("quality lost", lost)):
            if value is None and self.feasible:
                raise HalfwiseError(f"trial {self.number} is feasible, so it must have a {what}, but got None")
            if value is not None and not math.isfinite(value):
                raise HalfwiseError(f"trial {self.number}: {what} must be a finite number, but got {value}")

    @property
    def label(self) -> str:
        """What people call it: "trial 7", or "trial 3 (O2)" where the policy has a name."""
        return f"trial {self.number}" + (f" ({self.name})" if self.name else "")

    @property
    def confirmed(self) -> bool:
        """Whether it was trained with fresh seeds and held against float32 with the same ones."""
        return self.quality_lost is not None and self.quality_lost.confirmed


def merit(quality: float, direction: Direction) -> float:
    """The quality turned so that more is better."""
    return quality if direction == "maximize" else -quality


def measured(point: Point) -> tuple[float, float]:
    """Quality and speed of a feasible point.

    Raises:
        HalfwiseError: the point lacks one of them.
    """
    if point.quality is None or point.speed is None:
        raise HalfwiseError(
            f"{point.label} has no quality and speed to compare: {point.cause or 'no cause given'}"
        )
    return point.quality, point.speed


def worth(point: Point, direction: Direction) -> float:
    """How good a feasible point is, more is better: against float32 where that is known, else its own quality.

    Raises:
        HalfwiseError: the point lacks a figure.
    """
    quality, _ = measured(point)
    return merit(quality, direction) if point.quality_lost is None else -point.quality_lost.mean


def by_speed(points: Iterable[Point], direction: Direction) -> list[Point]:
    """The feasible points: fastest first, of equal speed the better one, of equal both the earlier trial."""

    def rank(point: Point) -> tuple[float, float, int]:
        return (-measured(point)[1], -worth(point, direction), point.number)

    return sorted((point for point in points if point.feasible), key=rank)


def confirmed_first(ranked: Iterable[Point]) -> list[Point]:
    """The points of `by_speed`, of equal speed the confirmed ones first.

    A confirmed loss is the mean over fresh seeds; that of one seed may well look better beside it, by its luck.
    """
    return sorted(ranked, key=lambda point: (-measured(point)[1], not point.confirmed))


def pareto_front(points: Iterable[Point], direction: Direction) -> tuple[Point, ...]:
    """The feasible points that no other point beats in one figure without losing in the other; fastest first.

    Different policies with equal figures are all on the front, in the order of their trials. Of trials of one
    policy (equal digest) with equal figures, the earliest stands for all. No feasible point: an empty front.
    """
    front: list[Point] = []
    best = -math.inf
    seen: set[tuple[str, float, float]] = set()
    for point in by_speed(points, direction):
        speed, good = measured(point)[1], worth(point, direction)
        tie = bool(front) and good == best and speed == front[-1].speed
        if (good > best or tie) and (point.digest, good, speed) not in seen:
            front.append(point)
            best = good
            seen.add((point.digest, good, speed))
    return tuple(front)


def hypervolume(points: Iterable[Point], reference: tuple[float, float], direction: Direction) -> float:
    """The area between the front and a reference (quality, speed) that every good point beats in both.

    The unit is that of quality times samples per second. Points that do not beat the reference in both
    figures, and infeasible ones, add nothing; no points give 0.

    Raises:
        HalfwiseError: the reference is not finite.
    """
    places = (measured(point) for point in points if point.feasible)
    return area_covered(
        ((speed, -merit(quality, direction)) for quality, speed in places),
        (reference[1], -merit(reference[0], direction)),
    )
