"""Puts labels beside points of a chart so that they cover neither each other nor the points."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from ..policies.canonical import printable

_GAPS_PX = (15.0, 28.0, 50.0)
_DIRECTIONS = tuple(math.radians(angle) for angle in (35, -35, 145, -145, 90, -90, 0, 180))
_POINT_RADIUS_PX = 9.0
_PADDING_PX = 3.0
_LONGEST = 100
# One covered label is worse than any number of covered points, and leaving the axes is worst.
_LABEL_COST, _OUTSIDE_COST = 100.0, 1000.0


@dataclass(frozen=True)
class Label:
    """A text and the point it belongs to, in data coordinates."""

    text: str
    x: float
    y: float
    color: str
    bold: bool = False


def plain(text: str) -> str:
    """The text as matplotlib draws it letter by letter, on one line and at most 100 letters long.

    A dollar sign would start a formula there, and one that is none ends the drawing.
    """
    line = printable(" ".join(text.split()))
    short = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    return short.replace("$", r"\$")


def place_labels(axes: Axes, labels: Sequence[Label], points: Sequence[tuple[float, float]]) -> None:
    """Write each label at the free place that is nearest to its point; earlier ones choose first.

    `points` are all points that are drawn, in data coordinates. The figure must have been laid out. Where all
    places are taken, the least bad one serves.
    """
    marks = [_around(*pixel) for pixel in axes.transData.transform(points)] if len(points) else []
    inside = axes.get_window_extent()
    taken: list[Bbox] = []
    for label in labels:
        taken.append(_place(axes, label, marks, taken, inside))


def _place(axes: Axes, label: Label, marks: list[Bbox], taken: list[Bbox], inside: Bbox) -> Bbox:
    note = axes.annotate(
        label.text,
        (label.x, label.y),
        xytext=(0, 0),
        textcoords="offset pixels",
        ha="center",
        va="center",
        color=label.color,
        fontsize=9,
        fontweight="bold" if label.bold else "normal",
        zorder=6,
        annotation_clip=False,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )
    size = note.get_window_extent().padded(_PADDING_PX)
    x, y = axes.transData.transform((label.x, label.y))
    anchor = (float(x), float(y))
    best = min(
        _places(size.width, size.height),
        key=lambda place: _cost(_box(anchor, place, size), marks, taken, inside) + math.hypot(*place) / 100,
    )
    note.set_position(best)
    if math.hypot(*best) > size.width / 2 + _GAPS_PX[1]:
        axes.annotate(
            "",
            (label.x, label.y),
            xytext=(best[0] * 0.6, best[1] * 0.6),
            textcoords="offset pixels",
            arrowprops={"arrowstyle": "-", "color": label.color, "lw": 0.6, "shrinkA": 0, "shrinkB": 5},
        )
    return _box(anchor, best, size)


def _places(width: float, height: float) -> Iterator[tuple[float, float]]:
    """Offsets of a label's middle from its point, near ones first."""
    for gap in _GAPS_PX:
        for angle in _DIRECTIONS:
            yield math.cos(angle) * (width / 2 + gap), math.sin(angle) * (height / 2 + gap)


def _cost(box: Bbox, marks: list[Bbox], taken: list[Bbox], inside: Bbox) -> float:
    outside = box.x0 < inside.x0 or box.x1 > inside.x1 or box.y0 < inside.y0 or box.y1 > inside.y1
    labels = sum(box.overlaps(other) for other in taken)
    return _OUTSIDE_COST * outside + _LABEL_COST * labels + sum(box.overlaps(mark) for mark in marks)


def _box(anchor: tuple[float, float], place: tuple[float, float], size: Bbox) -> Bbox:
    x, y = anchor[0] + place[0], anchor[1] + place[1]
    return Bbox.from_bounds(x - size.width / 2, y - size.height / 2, size.width, size.height)


def _around(x: float, y: float) -> Bbox:
    radius = _POINT_RADIUS_PX
    return Bbox.from_bounds(x - radius, y - radius, 2 * radius, 2 * radius)
