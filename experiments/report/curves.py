"""Loss and loss scale over the steps of a training, as lines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .scales import Scale, scale_around

WIDTH, HEIGHT = 760, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 20, 14, 44
# A line of more points is no finer on a screen.
_MOST_POINTS = 240
# Steps in the table beside a picture.
_SAMPLES = 11


@dataclass(frozen=True)
class Curve:
    """One line: a path of SVG, its name, its place in the order of colours and dashes, and some of its values."""

    name: str
    path: str
    place: int
    samples: tuple[float | None, ...]


@dataclass(frozen=True)
class CurvePicture:
    """Lines over steps, with ticks at both axes; the curves' samples were taken at `steps`."""

    curves: tuple[Curve, ...]
    steps: tuple[int, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM

    @property
    def foot(self) -> int:
        """Below this the horizontal axis is written."""
        return self.bottom


def curve_picture(lines: Sequence[tuple[str, Sequence[float | None]]], log2: bool = False) -> CurvePicture | None:
    """The lines by name, in their order; steps without a value leave a gap.

    A line of fewer than two values is left out, a picture without any is None. With `log2` the vertical axis
    counts doublings.
    """
    turned = [[_turned(value, log2) for value in values] for _, values in lines]
    kept = [place for place, values in enumerate(turned) if sum(value is not None for value in values) > 1]
    if not kept:
        return None
    known = [value for place in kept for value in turned[place] if value is not None]
    longest = max(len(turned[place]) for place in kept)
    x = scale_around([0.0, float(max(longest - 1, 1))], _LEFT, WIDTH - _RIGHT, margin=0.01)
    y = scale_around(known, HEIGHT - _BOTTOM, _TOP)
    steps = _spread(longest, _SAMPLES)
    return CurvePicture(
        curves=tuple(
            Curve(lines[place][0], _path(turned[place], x, y), place, _samples(lines[place][1], steps))
            for place in kept
        ),
        steps=tuple(steps),
        x_ticks=tuple((x(tick), f"{tick:g}") for tick in x.ticks(7) if tick >= 0 and tick.is_integer()),
        y_ticks=_ticks(y, log2),
    )


def _path(values: Sequence[float | None], x: Scale, y: Scale) -> str:
    steps, pen = [], "M"
    for step in _spread(len(values), _MOST_POINTS):
        value = values[step]
        if value is None:
            pen = "M"
            continue
        steps.append(f"{pen}{x(float(step))} {y(value)}")
        pen = "L"
    return " ".join(steps)


def _samples(values: Sequence[float | None], steps: Sequence[int]) -> tuple[float | None, ...]:
    return tuple(_turned(values[step], log2=False) if step < len(values) else None for step in steps)


def _ticks(y: Scale, log2: bool) -> tuple[tuple[float, str], ...]:
    """With `log2` whole doublings only: the numbers themselves while they are short, else as powers."""
    if not log2:
        return tuple((y(tick), f"{tick:.3g}") for tick in y.ticks(5))
    whole = [tick for tick in y.ticks(5) if float(tick).is_integer()] or [math.ceil(y.low)]
    short = min(whole) >= -4 and max(whole) <= 19
    return tuple((y(tick), f"{2.0**tick:,g}" if short else f"2^{tick:g}") for tick in whole)


def _turned(value: float | None, log2: bool) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return (math.log2(value) if value > 0 else None) if log2 else value


def _spread(count: int, most: int) -> list[int]:
    """All places from 0 on, or so many evenly spread with the first and the last."""
    if count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})
