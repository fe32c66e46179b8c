"""The picture of a front: quality lost against speed, every trial that trains, as SVG that scripts can reach."""

from collections.abc import Sequence
from dataclasses import dataclass

from .labels import Label, Named, placed_labels
from .scales import Scale, scale_around

WIDTH, HEIGHT, STRIP = 760, 430, 34
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 20, 18, 52
_ORDER = ("other", "front", "best")
# With more trials than these, only those of the front show their intervals all the time.
_FEW = 25


@dataclass(frozen=True)
class Spot:
    """A trial in the picture: speed over float32's, share of float32's quality lost with its 95% interval.

    `kind` is "best", "front" or "other"; `name` is shown beside it where it has one.
    """

    number: int
    kind: str
    name: str
    speed: float
    speed_low: float | None
    speed_high: float | None
    lost: float
    lost_low: float | None
    lost_high: float | None
    words: str


@dataclass(frozen=True)
class Fallen:
    """A trial without a quality, and what its step's price is over float32's, where it has one."""

    number: int
    speed: float | None
    words: str


@dataclass(frozen=True)
class Mark:
    """A spot by its place in pixels; `bars` are the paths of its intervals, capped where they end."""

    spot: Spot
    x: float
    y: float
    bars: tuple[str, ...]
    label: Label | None


@dataclass(frozen=True)
class Cross:
    """A trial without a quality, by its place in the strip."""

    fallen: Fallen
    x: float


@dataclass(frozen=True)
class FrontPicture:
    """All that the template draws; `y_bound` is the place of the tolerance, `y_zero` of no loss.

    `cut`: some lose more than the picture shows, and stand at its lower edge. `crosses` stand in a strip below the
    plot, between `bottom` and `foot`; without any there is no strip.
    """

    marks: tuple[Mark, ...]
    crosses: tuple[Cross, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    y_bound: float
    y_zero: float
    line: str
    cut: bool
    width: int = WIDTH
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM

    @property
    def foot(self) -> int:
        """Below this the horizontal axis is written."""
        return self.bottom + (STRIP if self.crosses else 0)

    @property
    def height(self) -> int:
        """Of the whole picture."""
        return self.foot + _BOTTOM

    @property
    def few(self) -> bool:
        """Whether there is room for every interval."""
        return len(self.marks) <= _FEW


def front_picture(spots: Sequence[Spot], fallen: Sequence[Fallen], tolerance: float) -> FrontPicture:
    """Faster is to the right, better is up. The spots of the front are joined by a stair, slowest first.

    Losses beyond five times what the best half loses are drawn at the lower edge: one bad trial would press all
    others together.
    """
    prices = [each.speed for each in fallen if each.speed is not None]
    x = scale_around([1.0, *(spot.speed for spot in spots), *prices], _LEFT, WIDTH - _RIGHT)
    y = _losses(spots, tolerance)
    # What stands later is drawn over the rest.
    drawn = sorted(spots, key=lambda each: _ORDER.index(each.kind))
    labels = _labels(drawn, x, y)
    return FrontPicture(
        marks=tuple(_mark(spot, x, y, labels.get(spot.number)) for spot in drawn),
        crosses=tuple(Cross(each, x(each.speed)) for each in fallen if each.speed is not None),
        x_ticks=tuple((x(tick), f"{tick:g}x") for tick in x.ticks(7)),
        y_ticks=tuple((y(tick), f"{tick:.3g}%") for tick in y.ticks(6)),
        y_bound=y(100 * tolerance),
        y_zero=y(0.0),
        cut=any(not y.holds(100 * spot.lost) for spot in spots),
        line=_stair([spot for spot in spots if spot.kind in ("best", "front")], x, y),
    )


def _losses(spots: Sequence[Spot], tolerance: float) -> Scale:
    """In percent; a loss is further down, so the scale runs from the top."""
    lost = sorted(100 * spot.lost for spot in spots)
    usual = lost[: max(len(lost) // 2, 1)]
    edge = max(5 * max((abs(value) for value in usual), default=0.0), 150 * tolerance)
    shown = [0.0, 130 * tolerance, *(min(value, edge) for value in lost)]
    return scale_around(shown, _TOP, HEIGHT - _BOTTOM, margin=0.09)


def _labels(drawn: Sequence[Spot], x: Scale, y: Scale) -> dict[int, Label]:
    """The chosen one first: who comes later makes room."""
    named = [Named(spot.number, spot.name, x(spot.speed), y(100 * spot.lost)) for spot in reversed(drawn)]
    return placed_labels([each for each in named if each.text], named, _LEFT, WIDTH - _RIGHT)


def _mark(spot: Spot, x: Scale, y: Scale, label: Label | None) -> Mark:
    place = (x(spot.speed), y(100 * spot.lost))
    bars: list[str] = []
    if spot.lost_low is not None and spot.lost_high is not None:
        ends = (100 * spot.lost_low, 100 * spot.lost_high)
        caps = "".join(f"M{place[0] - 4} {y(end)}h8" for end in ends if y.holds(end))
        bars.append(f"M{place[0]} {y(ends[0])}V{y(ends[1])}{caps}")
    if spot.speed_low is not None and spot.speed_high is not None:
        ends = (spot.speed_low, spot.speed_high)
        caps = "".join(f"M{x(end)} {place[1] - 4}v8" for end in ends if x.holds(end))
        bars.append(f"M{x(ends[0])} {place[1]}H{x(ends[1])}{caps}")
    return Mark(spot, *place, tuple(bars), label)


def _stair(front: Sequence[Spot], x: Scale, y: Scale) -> str:
    """A path: up to a spot's speed its quality can be had."""
    steps: list[str] = []
    for spot in sorted(front, key=lambda each: each.speed):
        here = (x(spot.speed), y(100 * spot.lost))
        steps.append(f"M{here[0]} {here[1]}" if not steps else f"V{here[1]} H{here[0]}")
    return " ".join(steps)
