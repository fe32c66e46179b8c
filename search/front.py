"""The Pareto front of quality against speed: the policies that no other one beats in both."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..policies.errors import HalfwiseError

Direction = Literal["maximize", "minimize"]


@dataclass(frozen=True, slots=True)
class Point:
    """What one trial came to: quality in the metric's own unit, speed in samples per second.

    A feasible point has both figures. An infeasible one (it does not train, or did not run) may lack them and
    says why in `cause`. Figures are finite: a point with NaN or infinity cannot be made.

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

    def __post_init__(self) -> None:
        """Check the figures once, so that nothing that reads points has to."""
        for what, value in (("quality", self.quality), ("speed", self.speed)):
            if value is None and self.feasible:
                raise HalfwiseError(f"trial {self.number} is feasible, so it must have a {what}, but got None")
            if value is not None and not math.isfinite(value):
                raise HalfwiseError(f"trial {self.number}: {what} must be a finite number, but got {value}")

    @property
    def label(self) -> str:
        """What people call it: "trial 7", or "trial 3 (O2)" where the policy has a name."""
        return f"trial {self.number}" + (f" ({self.name})" if self.name else "")


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


def by_speed(points: Iterable[Point], direction: Direction) -> list[Point]:
    """The feasible points: fastest first, of equal speed the better one, of equal both the earlier trial."""

    def rank(point: Point) -> tuple[float, float, int]:
        quality, speed = measured(point)
        return (-speed, -merit(quality, direction), point.number)

    return sorted((point for point in points if point.feasible), key=rank)


def pareto_front(points: Iterable[Point], direction: Direction) -> tuple[Point, ...]:
    """The feasible points that no other point beats in one figure without losing in the other; fastest first.

    Different policies with equal figures are all on the front, in the order of their trials. Of trials of one
    policy (equal digest) with equal figures, the earliest stands for all. No feasible point: an empty front.
    """
    front: list[Point] = []
    best = -math.inf
    seen: set[tuple[str, float, float]] = set()
    for point in by_speed(points, direction):
        quality, speed = measured(point)
        worth = merit(quality, direction)
        tie = bool(front) and worth == best and speed == front[-1].speed
        if (worth > best or tie) and (point.digest, quality, speed) not in seen:
            front.append(point)
            best = worth
            seen.add((point.digest, quality, speed))
    return tuple(front)


def hypervolume(points: Iterable[Point], reference: tuple[float, float], direction: Direction) -> float:
    """The area between the front and a reference (quality, speed) that every good point beats in both.

    The unit is that of quality times samples per second. Points that do not beat the reference in both
    figures, and infeasible ones, add nothing; no points give 0.

    Raises:
        HalfwiseError: the reference is not finite.
    """
    if not all(map(math.isfinite, reference)):
        raise HalfwiseError(f"the reference must be two finite numbers (quality, speed), but got {reference}")
    floor, area = merit(reference[0], direction), 0.0
    # Fastest first, quality only rises along the front: each point adds the strip above the one before it.
    for point in pareto_front(points, direction):
        quality, speed = measured(point)
        worth = merit(quality, direction)
        if worth > floor and speed > reference[1]:
            area += (worth - floor) * (speed - reference[1])
            floor = worth
    return area
