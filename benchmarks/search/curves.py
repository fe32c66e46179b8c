"""Anytime curves: how much of the exact front each searcher has found after so many trials."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from halfwise.search.propose.arrays import Floats

from .contest import Standing

# Okabe and Ito's colours, told apart with every common kind of colour blindness; the dashes differ as well.
_COLOURS = ("#000000", "#0072B2", "#56B4E9", "#009E73", "#8C8C8C", "#D55E00", "#E69F00", "#CC79A7", "#C7B600")
_DASHES = ("-", "-", "--", "-", ":", "-", "--", "-.", ":")
_SIZE_IN, _PIXELS_PER_INCH = (10.0, 5.0), 120


def curves_figure(standings: Mapping[str, Standing], title: str) -> Figure:
    """Two panels, the median and the worst seed, with one line a searcher; the first searcher is drawn boldest."""
    figure = Figure(figsize=_SIZE_IN, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    _draw(left, standings, _median, "median seed")
    _draw(right, standings, _worst, "worst seed")
    left.set_ylabel("share of the exact front's hypervolume")
    figure.suptitle(title, x=0.01, ha="left", size=12, weight="bold")
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def reached_figure(trials: Mapping[str, Sequence[float]], title: str) -> Figure:
    """One line a searcher: on which share of its networks it had reached the goal after so many trials.

    `trials` are those beyond the hazards, infinite where the goal was not reached; the first searcher is drawn
    boldest.
    """
    figure = Figure(figsize=_SIZE_IN, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    last = max((t for each in trials.values() for t in each if np.isfinite(t)), default=1.0)
    for number, ((name, each), colour, dashes) in enumerate(zip(trials.items(), _COLOURS, _DASHES, strict=False)):
        reached = np.sort([t for t in each if np.isfinite(t)])
        places, shares = [*reached, last], [*np.arange(1, len(reached) + 1), len(reached)]
        axes.step(
            places,
            np.array(shares) / len(each),
            dashes,
            where="post",
            label=name,
            color=colour,
            linewidth=2.6 if number == 0 else 1.5,
        )
    _dress(axes, title, "counted trials beyond the number of hazards")
    axes.set_ylabel("share of networks at the goal")
    figure.legend(loc="outside right center", frameon=False)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure of these as PNG, 1200 x 600 pixels.

    Raises:
        OSError: the file cannot be written.
    """
    figure.savefig(path, format="png", dpi=_PIXELS_PER_INCH)


def _draw(
    axes: Axes, standings: Mapping[str, Standing], over_seeds: Callable[[Floats], Floats], title: str
) -> None:
    looks = zip(standings.items(), _COLOURS, _DASHES, strict=False)
    for number, ((peer, standing), colour, dashes) in enumerate(looks):
        shares = over_seeds(standing.anytime)
        trials = np.arange(1, len(shares) + 1)
        axes.plot(trials, shares, dashes, label=peer, color=colour, linewidth=2.6 if number == 0 else 1.5)
    axes.set_xlim(left=1)
    _dress(axes, title, "counted trials")


def _dress(axes: Axes, title: str, trials: str) -> None:
    axes.set(title=title, xlabel=trials, ylim=(0, 1.02))
    axes.grid(color="#E6E6E6", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)


def _median(shares: Floats) -> Floats:
    return np.median(shares, axis=0)


def _worst(shares: Floats) -> Floats:
    return shares.min(axis=0)
