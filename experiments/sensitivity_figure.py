"""The sensitivity of a network's groups as a picture: a bar for each, the likeliest harm on top."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from ..policies import LowPrecision
from ..policies.whole_file import written_aside
from .figure_labels import plain
from .sensitivity_words import Row


class _Bar(NamedTuple):
    color: str
    shift: float
    height: float


# Okabe and Ito's colours, told apart with every common kind of colour blindness; the bars' widths differ as well.
_BARS: dict[LowPrecision, _Bar] = {
    "float16": _Bar("#0072B2", -0.13, 0.46),
    "bfloat16": _Bar("#E69F00", 0.29, 0.22),
}
_INK, _PALE, _GRID = "#222222", "#555555", "#E6E6E6"
_PIXELS_PER_INCH = 150
_WIDTH_IN, _FRAME_IN, _ROW_IN = 10.0, 1.5, 0.34
# More bars than this are no picture any more.
MOST_BARS = 40


def sensitivity_figure(rows: Sequence[Row], title: str) -> Figure:
    """A figure 1,500 pixels wide with the first 40 rows from top to bottom; a footnote counts the rest.

    Beside a bar stands the rule that gave most of it, where the probability is a twentieth at least.
    """
    shown = rows[:MOST_BARS]
    height = _FRAME_IN + _ROW_IN * max(len(shown), 3)
    figure = Figure(figsize=(_WIDTH_IN, height), dpi=_PIXELS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=(0.008, 0.25 / height, 0.98, 1 - 0.3 / height)))
    axes = figure.add_subplot()
    places = range(len(shown))
    for precision, look in _BARS.items():
        values = [row.beliefs[precision].probability for row in shown]
        bars = [place + look.shift for place in places]
        axes.barh(bars, values, height=look.height, color=look.color, label=precision)
    for place, row in enumerate(shown):
        if row.probability >= 0.05:
            rules = ", ".join(harm.rule for harm in row.beliefs["float16"].harms[:2])
            axes.text(row.probability + 0.01, place - 0.13, plain(rules), va="center", size=8, color=_PALE)
    axes.set_yticks(list(places), [plain(row.name) for row in shown])
    axes.set(xlim=(0, 1.3), ylim=(max(len(shown), 3) - 0.5, -0.6), xticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("probability that the group harms the training in this precision", color=_INK)
    axes.set_title(plain(title), loc="left", size=12, color=_INK, weight="bold", pad=24)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(colors=_PALE, labelsize=9, left=False)
    axes.grid(axis="x", color=_GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, frameon=False, fontsize=9, labelcolor=_INK)
    left = len(rows) - len(shown)
    note = "worked out from values in float32 and one step with each group alone"
    note += f"; {left} less likely ones are left out" if left else ""
    figure.text(0.012, 0.08 / height, f"{note}.", size=8, color=_PALE)
    return figure


def save_sensitivity_figure(rows: Sequence[Row], title: str, path: Path) -> None:
    """Write the figure as PNG.

    Raises:
        NotWritten: the file cannot be written.
    """
    with written_aside(path) as aside:
        sensitivity_figure(rows, title).savefig(aside, format="png", dpi=_PIXELS_PER_INCH)
