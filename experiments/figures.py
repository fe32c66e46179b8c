"""The front as a picture: quality against speed, every policy that trains a point."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..evaluators.outcome import Direction
from ..search.front import Point, measured, merit
from .figure_labels import Label, place_labels

# Okabe and Ito's colours, told apart with every common kind of colour blindness; shapes differ as well.
_BLUE, _ORANGE, _GREEN, _GREY, _INK, _PALE = "#0072B2", "#D55E00", "#009E73", "#8C8C8C", "#222222", "#555555"
_PIXELS_PER_INCH = 150
_SIZE_IN = (1200 / _PIXELS_PER_INCH, 800 / _PIXELS_PER_INCH)
# A quality this many times as far from the median as the worse quartile is drawn at the edge: one policy that
# learned nothing would flatten all the others into a line.
_FAR_OFF = 6.0
_LABELLED_FRONT = 8


@dataclass(frozen=True)
class FrontPicture:
    """What a front figure shows.

    `points` are all trials, infeasible ones included (they are counted in a footnote); `quality_bound` is the
    worst quality within the tolerance of float32's; `speed_label` is the kind of speed, such as "measured on
    CPU". `baseline`, `best` and `quality_bound` may be None: they are left out then.
    """

    points: Sequence[Point]
    front: Sequence[Point]
    best: Point | None
    baseline: Point | None
    metric: str
    direction: Direction
    speed_label: str
    title: str = ""
    quality_bound: float | None = None

    @property
    def feasible(self) -> list[Point]:
        """The trials that can be drawn."""
        return [point for point in self.points if point.feasible]

    @property
    def edge(self) -> float:
        """The quality at which worse ones are drawn; needs a feasible trial."""
        worths = sorted(merit(measured(point)[0], self.direction) for point in self.feasible)
        middle, lower = statistics.median(worths), worths[len(worths) // 4]
        kept = [value for value in worths if value >= middle - _FAR_OFF * (middle - lower)] or worths
        must = [measured(point)[0] for point in (self.best, self.baseline) if point is not None and point.feasible]
        must += [] if self.quality_bound is None else [self.quality_bound]
        return merit(min([kept[0], *(merit(quality, self.direction) for quality in must)]), self.direction)

    def place(self, point: Point) -> tuple[float, float]:
        """Where a feasible point is drawn: speed and quality, the quality no worse than the edge."""
        quality, speed = measured(point)
        return speed, quality if not self.beyond(point) else self.edge

    def beyond(self, point: Point) -> bool:
        """Whether a feasible point is worse than the edge."""
        return merit(measured(point)[0], self.direction) < merit(self.edge, self.direction)


def front_figure(picture: FrontPicture) -> Figure:
    """A 1200 x 800 figure; without a feasible trial it says so instead of showing points."""
    figure = Figure(figsize=_SIZE_IN, dpi=_PIXELS_PER_INCH, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
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
        OSError: the file cannot be written.
    """
    front_figure(picture).savefig(path, format="png", dpi=_PIXELS_PER_INCH)


def _dress(axes: Axes, picture: FrontPicture) -> None:
    better = "higher" if picture.direction == "maximize" else "lower"
    axes.set_xlabel(f"training speed, samples/s, {picture.speed_label} (further right is better)", color=_INK)
    axes.set_ylabel(f"{picture.metric} ({better} is better)", color=_INK)
    axes.set_title(picture.title, loc="left", size=12, color=_INK, weight="bold", pad=28)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_GREY)
    axes.tick_params(colors=_PALE, labelsize=9)
    axes.grid(color="#E6E6E6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(0.09)
    # The footnote stands below the axes.
    axes.figure.get_layout_engine().set(rect=(0.008, 0.045, 0.98, 0.94))


def _draw(axes: Axes, picture: FrontPicture) -> None:
    _draw_bound(axes, picture)
    front = {point.number for point in picture.front}
    levels = [point for point in picture.feasible if point.name]
    others = [p for p in picture.feasible if not p.name and p.number not in front]
    _scatter(axes, picture, others, label="trial", marker="o", s=30, color=_GREY, alpha=0.65, linewidths=0)
    _draw_front(axes, picture)
    _scatter(axes, picture, levels, label="built-in level", marker="D", s=42, color=_ORANGE, zorder=4)
    if picture.best is not None:
        looks = {"marker": "*", "s": 300, "color": _GREEN, "edgecolors": "white", "linewidths": 1.0, "zorder": 5}
        _scatter(axes, picture, [picture.best], label="best", **looks)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=5, frameon=False, fontsize=9, labelcolor=_INK)
