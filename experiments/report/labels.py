"""Where names stand beside the marks of a picture, so that none covers another."""

from collections.abc import Sequence
from typing import NamedTuple

_LETTER, _LINE, _MARK = 7.6, 14.0, 7.0
# Tried in this order, as (right, down, anchor) from the mark.
_PLACES = (
    *((11.0, -8.0, "start"), (-11.0, -8.0, "end"), (11.0, 18.0, "start"), (-11.0, 18.0, "end")),
    *((0.0, -14.0, "middle"), (0.0, 25.0, "middle"), (11.0, -24.0, "start"), (-11.0, -24.0, "end")),
    *((11.0, 34.0, "start"), (-11.0, 34.0, "end")),
)


class Named(NamedTuple):
    """A mark at (x, y) in pixels, and its name."""

    number: int
    text: str
    x: float
    y: float


class Label(NamedTuple):
    """A name at its place, as SVG anchors text."""

    text: str
    x: float
    y: float
    anchor: str


class _Box(NamedTuple):
    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other: "_Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def placed_labels(named: Sequence[Named], marks: Sequence[Named], left: float, right: float) -> dict[int, Label]:
    """A label for each named mark, by its number: none over another, and over as few of `marks` as can be.

    A name for which there is no room between `left` and `right` without covering another is left out.
    """
    taken: list[_Box] = []
    labels: dict[int, Label] = {}
    others = [_Box(m.x - _MARK, m.x + _MARK, m.y - _MARK, m.y + _MARK) for m in marks]
    for mark in named:
        places = [Label(mark.text, mark.x + dx, mark.y + dy, anchor) for dx, dy, anchor in _PLACES]
        free = [each for each in places if _fits(_box(each), taken, left, right)]
        if free:
            labels[mark.number] = min(free, key=lambda each: sum(_box(each).meets(other) for other in others))
            taken.append(_box(labels[mark.number]))
    return labels


def _box(label: Label) -> _Box:
    wide = _LETTER * len(label.text)
    left = label.x - {"start": 0.0, "middle": wide / 2, "end": wide}[label.anchor]
    return _Box(left, left + wide, label.y - _LINE + 3, label.y + 3)


def _fits(box: _Box, taken: Sequence[_Box], left: float, right: float) -> bool:
    return box.left >= left and box.right <= right and box.top >= 0 and not any(box.meets(each) for each in taken)
