"""The front as far as noise lets one see it: what cannot be told apart is one point."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .front import Direction, Point, by_speed, confirmed_first, measured, worth


@dataclass(frozen=True, slots=True)
class NoisyFront:
    """The points of a front, fastest first; `as_good_as`: the trials that one of them stands for, by number."""

    points: tuple[Point, ...]
    as_good_as: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The trials on the front."""
        return tuple(point.number for point in self.points)


@dataclass(frozen=True, slots=True)
class Resolution:
    """How well two trials can be told apart.

    `quality_margin`: a smaller difference in quality is noise; 0 if none is known. `float32_speed` is what
    measured ratios are multiples of; without it speeds are exact, as priced ones are.
    """

    direction: Direction
    quality_margin: float = 0.0
    float32_speed: float | None = None

    def better(self, one: Point, other: Point) -> bool:
        """Whether the one is better in quality beyond noise."""
        return worth(one, self.direction) > worth(other, self.direction) + self.quality_margin

    def slower(self, one: Point, other: Point) -> bool:
        """Whether the one is surely slower: of measured speeds, the intervals must lie apart."""
        return self._speeds(one)[1] < self._speeds(other)[0]

    def beats(self, one: Point, other: Point) -> bool:
        """Whether the one is better beyond noise and not surely slower."""
        return self.better(one, other) and not self.slower(one, other)

    def _speeds(self, point: Point) -> tuple[float, float]:
        """Lowest and highest speed that the measurement leaves open."""
        interval, (_, speed) = point.against_float32, measured(point)
        if interval is None or self.float32_speed is None:
            return speed, speed
        return interval.low * self.float32_speed, interval.high * self.float32_speed


def noisy_front(points: Iterable[Point], resolution: Resolution) -> NoisyFront:
    """The feasible points that are worth telling apart, in two steps.

    First every point goes that another one beats. Of the rest, from the fastest down, a point is on the front if
    it is better beyond noise than all that are on it already; otherwise the fastest of these that it is not
    better than stands for it. So a point is only ever left out for one that stays: noise that adds up along a row
    of neighbours cannot empty the front. Of points of equal speed a confirmed one stands for the others. Without
    noise it is the Pareto front, of equal points the earliest trial.
    """
    ranked = confirmed_first(by_speed(points, resolution.direction))
    front: list[Point] = []
    as_good_as: dict[int, int] = {}
    for point in ranked:
        if any(resolution.beats(other, point) for other in ranked):
            continue
        equal = next((kept for kept in front if not resolution.better(point, kept)), None)
        if equal is None:
            front.append(point)
        else:
            as_good_as[point.number] = equal.number
    return NoisyFront(tuple(front), as_good_as)
