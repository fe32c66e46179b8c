"""The front as a small plot of characters for the terminal: shapes tell points apart, not colours."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..search.front import Point
from .drawn_front import FrontPicture

_LEAST_WIDTH, _MOST_WIDTH, _HEIGHT = 40, 100, 18
_TICKS = 4
# What plotext draws its frame with, and what stands for it where only ASCII is sure to show.
_FRAME = str.maketrans("│┤├─┬┴┌┐└┘┼", "|||-+++++++")


@dataclass(frozen=True)
class Shapes:
    """One character for each kind of point; a legend has them in this order."""

    best: str
    front: str
    float32: str
    other: str
    beyond: str


UNICODE = Shapes(best="★", front="●", float32="◆", other="·", beyond="▾")
ASCII = Shapes(best="*", front="o", float32="#", other=".", beyond="v")


def front_plot(picture: FrontPicture, width: int, shapes: Shapes) -> str:
    """The plot with title and legend, 20 lines of at most `width` characters, of which it takes 40 to 100.

    Speed goes to the right, the metric up, whichever way is better. What is far worse than all others stands at
    the edge. Where no policy trained, a line that says so.
    """
    if not picture.feasible:
        return "No policy trained: there is nothing to draw."
    import plotext

    figure = plotext.figure.clear()
    figure.theme("colorless")
    figure.plot_size(max(_LEAST_WIDTH, min(width, _MOST_WIDTH)), _HEIGHT)
    for shape, _, points in _kinds(picture, shapes):
        if points:
            speeds, qualities = zip(*map(picture.place, points), strict=True)
            figure.draw(figure.signal(list(speeds), list(qualities), marker=shape))
    figure.ruler("x").ticks(*_ticks(picture))
    text = plotext.uncolorize(str(figure.build()))
    legend = "  ".join(f"{shape} {words}" for shape, words, points in reversed(_kinds(picture, shapes)) if points)
    better = "higher" if picture.direction == "maximize" else "lower"
    title = f"{picture.metric} ({better} is better) by samples/s, {picture.speed_label}"
    drawn = "\n".join([title, *(line.rstrip() for line in text.splitlines() if line.strip()), f"  {legend}"])
    return drawn.translate(_FRAME) if shapes == ASCII else drawn


def _ticks(picture: FrontPicture) -> tuple[list[float], list[str]]:
    """Some speeds from the slowest to the fastest, and how they are written."""
    speeds = [picture.place(point)[0] for point in picture.feasible]
    low, high = min(speeds), max(speeds)
    if low == high:
        return [low], [f"{low:,.4g}"]
    places = [low + (high - low) * step / _TICKS for step in range(_TICKS + 1)]
    return places, [f"{float(f'{place:.3g}'):,.10g}" for place in places]


def _kinds(picture: FrontPicture, shapes: Shapes) -> Sequence[tuple[str, str, list[Point]]]:
    """Shape, words and points, in the order of drawing: later ones hide earlier ones."""
    far = [point for point in picture.feasible if picture.beyond(point)]
    near = [point for point in picture.feasible if not picture.beyond(point)]
    return (
        (shapes.other, "others", near),
        (shapes.beyond, "far worse", far),
        (shapes.front, "front", list(picture.front)),
        (shapes.float32, "float32", [picture.baseline] if picture.baseline and picture.baseline.feasible else []),
        (shapes.best, "chosen", [picture.best] if picture.best else []),
    )
