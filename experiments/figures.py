"""The front as a picture: quality against speed, every policy that trains a point."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle

from ..policies.whole_file import written_aside
from ..search.front import Point, measured
from .drawn_front import FrontPicture
from .figure_labels import Label, place_labels, plain

# Okabe and Ito's colours, told apart with every common kind of colour blindness; shapes differ as well.
_BLUE, _ORANGE, _GREEN, _GREY, _INK, _PALE = "#0072B2", "#D55E00", "#009E73", "#8C8C8C", "#222222", "#555555"
_PIXELS_PER_INCH = 150
_SIZE_IN = (1200 / _PIXELS_PER_INCH, 800 / _PIXELS_PER_INCH)
_LABELLED_FRONT = 8


def front_figure(picture: FrontPicture) -> Figure:
    """A 1200 x 800 figure; without a feasible trial it says so instead of showing points."""
    figure = Figure(figsize=_SIZE_IN, dpi=_PIXELS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    # The footnote stands below the axes.
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=(0.008, 0.045, 0.98, 0.94)))
    axes = figure.add_subplot()
    _dress(axes, picture)
    figure.text(0.012, 0.012, _footnote(picture), size=8, color=_PALE)
    if not picture.feasible:
        axes.text(0.5, 0.5, "no policy trained", transform=axes.transAxes, ha="center", color=_INK, size=13)
        return figure
    _draw(axes, picture)
    figure.draw_without_rendering()
    place_labels(axes, _labels(picture), [picture.place(point) for point in picture.feasible])
    return figure


def save_front_figure(picture: FrontPicture, path: Path) -> None:
    """Write the figure as PNG, 1200 x 800 pixels.

    Raises:
        NotWritten: the file cannot be written.
    """
    with written_aside(path) as aside:
        front_figure(picture).savefig(aside, format="png", dpi=_PIXELS_PER_INCH)


def _dress(axes: Axes, picture: FrontPicture) -> None:
    better = "higher" if picture.direction == "maximize" else "lower"
    axes.set_xlabel(f"training speed: samples/s, {plain(picture.speed_label)} (right is better)", color=_INK)
    axes.set_ylabel(f"{plain(picture.metric)} ({better} is better)", color=_INK)
    axes.set_title(plain(picture.title), loc="left", size=12, color=_INK, weight="bold", pad=44)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_GREY)
    axes.tick_params(colors=_PALE, labelsize=9)
    axes.grid(color="#E6E6E6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(0.09)


def _draw(axes: Axes, picture: FrontPicture) -> None:
    front = {point.number for point in picture.front}
    others = [p for p in picture.feasible if not p.name and p.number not in front]
    levels = [p for p in picture.feasible if p.name]
    _scatter(axes, picture, others, label="trial", marker="o", s=30, color=_GREY, alpha=0.65, linewidths=0)
    _draw_intervals(axes, picture)
    _draw_front(axes, picture)
    hollow, filled = _split(levels, picture.is_sure)
    looks = {"marker": "D", "s": 42, "edgecolors": _ORANGE, "linewidths": 1.4, "zorder": 4}
    _scatter(axes, picture, hollow, label=None if filled else "level or own policy", color="white", **looks)
    _scatter(axes, picture, filled, label="level or own policy", color=_ORANGE, **looks)
    if picture.best is not None:
        sure = picture.is_sure(picture.best)
        colors = {"color": _GREEN, "edgecolors": "white"} if sure else {"color": "white", "edgecolors": _GREEN}
        _scatter(axes, picture, [picture.best], "best", marker="*", s=300, linewidths=1.0, zorder=5, **colors)
    _draw_goal(axes, picture)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=4, frameon=False, fontsize=9, labelcolor=_INK)


def _draw_goal(axes: Axes, picture: FrontPicture) -> None:
    """A tint where a policy is faster than float32 and its quality within the tolerance."""
    if picture.quality_bound is None or picture.baseline is None or not picture.baseline.feasible:
        return
    speed, bound = measured(picture.baseline)[1], picture.quality_bound
    (_, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    axes.set(xlim=axes.get_xlim(), ylim=(bottom, top))
    good = top if picture.direction == "maximize" else bottom
    corner = Rectangle(
        (speed, min(bound, good)), right - speed, abs(good - bound), facecolor=_GREEN, alpha=0.1, zorder=0
    )
    corner.set_label("faster than float32, within tolerance")
    axes.add_patch(corner)


def _draw_front(axes: Axes, picture: FrontPicture) -> None:
    places = sorted(picture.place(point) for point in picture.front)
    if not places:
        return
    speeds, qualities = zip(*places, strict=True)
    # At any speed, the front's quality is that of the next faster policy.
    axes.plot(speeds, qualities, drawstyle="steps-pre", label="front", color=_BLUE, linewidth=1.4, zorder=3)
    hollow, filled = _split(picture.front, picture.is_sure)
    looks = {"marker": "o", "s": 42, "edgecolors": _BLUE, "linewidths": 1.4, "zorder": 3.5}
    _scatter(axes, picture, filled, label="confirmed", color=_BLUE, **looks)
    _scatter(axes, picture, hollow, label="not confirmed", color="white", **looks)


def _draw_intervals(axes: Axes, picture: FrontPicture) -> None:
    """The 95% intervals of what the front's points and the best policy lost, as bars."""
    shown = {point.number: point for point in (*picture.front, *([picture.best] if picture.best else []))}
    for point in shown.values():
        half = point.quality_lost and point.quality_lost.half_width
        if half and not picture.beyond(point):
            speed, quality = picture.place(point)
            axes.errorbar(speed, quality, yerr=half, color=_BLUE, elinewidth=0.9, capsize=3, alpha=0.6, zorder=2)


def _scatter(
    axes: Axes, picture: FrontPicture, points: Iterable[Point], label: str | None, marker: str, **looks: Any
) -> None:
    """Points in place, and those beyond the edge as triangles that point to where they are."""
    inside, beyond = _split(points, picture.beyond)
    away = "v" if picture.direction == "maximize" else "^"
    for group, shape, name in ((inside, marker, label), (beyond, away, None)):
        if group:
            speeds, qualities = zip(*map(picture.place, group), strict=True)
            axes.scatter(speeds, qualities, marker=shape, label=name, **looks)


def _split(points: Iterable[Point], test: Callable[[Point], bool]) -> tuple[list[Point], list[Point]]:
    failing: list[Point] = []
    passing: list[Point] = []
    for point in points:
        (passing if test(point) else failing).append(point)
    return failing, passing


def _labels(picture: FrontPicture) -> list[Label]:
    """Best first, then the built-in levels, then the rest of a front that is short enough to name."""
    labels = [] if picture.best is None else [_label(picture, picture.best, "best: ", _GREEN, bold=True)]
    shown = set() if picture.best is None else {picture.best.number}
    rest = picture.front if len(picture.front) <= _LABELLED_FRONT else ()
    for points, color in (([p for p in picture.feasible if p.name], _ORANGE), (rest, _BLUE)):
        for point in points:
            if point.number not in shown:
                labels.append(_label(picture, point, "", color))
                shown.add(point.number)
    return labels


def _label(picture: FrontPicture, point: Point, before: str, color: str, bold: bool = False) -> Label:
    x, y = picture.place(point)
    text = before + (point.name or f"trial {point.number}")
    if picture.baseline is not None and point.number == picture.baseline.number:
        text += " (float32)"
    if picture.beyond(point):
        text += f": {measured(point)[0]:.3g}"
    return Label(plain(text), x, y, color, bold)


def _footnote(picture: FrontPicture) -> str:
    total, drawn = len(picture.points), picture.feasible
    words = f"{len(drawn)} of {total} trials trained" if total else "no trials"
    if total > len(drawn):
        words += f"; {total - len(drawn)} did not and cannot be shown"
    if beyond := sum(map(picture.beyond, drawn)):
        words += f"; triangles at the edge ({beyond}) stand for worse quality than the picture reaches"
    if any(point.quality_lost is not None and point.quality_lost.half_width for point in drawn):
        words += "; bars: 95% interval of the difference to float32; hollow: not confirmed with fresh seeds"
    return words + "."
