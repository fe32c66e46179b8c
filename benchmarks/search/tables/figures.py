"""What is asked of the ladder on a measured table: shares of the exact front, and how soon against its peers."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...bench import Figure
from ..contest import Standing
from ..measured import Row, Table
from .near_front import points_apart

RIVALS = ("tpe", "tpe-multivariate", "nsga2", "random", "aimet", "bisect")
"""Those whose best the ladder is held against."""

# The share that all are timed by; what share of the best rival's trials the ladder may take.
SHARE, _OF_THE_BEST = 0.95, 1 / 3
_LEAST_POINTS = 5


def share_figures(name: str, standings: Mapping[str, Standing], ours: str) -> tuple[Figure, ...]:
    """After 30 and 60 trials, and trials until 0.95 of the exact hypervolume over those of the best rival.

    A rival that never gets there counts with one trial more than there were.
    """
    anytime = standings[ours].anytime
    at_30, at_60, worst = np.median(anytime[:, 29]), np.median(anytime[:, 59]), anytime[:, 59].min()
    best = min(trials_until(standings[peer], SHARE) or anytime.shape[1] + 1 for peer in RIVALS)
    ratio = (trials_until(standings[ours], SHARE) or math.inf) / best
    return (
        Figure(f"{name}, {ours} after 30 trials, median", float(at_30), "at least", 0.95, ""),
        Figure(f"{name}, {ours} after 60 trials, median", float(at_60), "at least", 0.98, ""),
        Figure(f"{name}, {ours} after 60 trials, worst seed", float(worst), "at least", 0.90, ""),
        Figure(f"{name}, {ours}'s trials to {SHARE} against the best peer's", ratio, "at most", _OF_THE_BEST, "x"),
    )


def trials_until(standing: Standing, share: float) -> int | None:
    """How many trials it takes until the median over seeds has that share; None if there were not enough."""
    reached = np.median(standing.anytime, axis=0) >= share
    return int(reached.argmax()) + 1 if reached.any() else None


def fronts_figure(tables: Sequence[Table]) -> Figure:
    """How many points of its exact front noise tells apart, in the table that has most."""
    most = max(points_apart([row.known for row in front_of(table)], table.noise) for table in tables)
    return Figure("points of an exact front that noise tells apart", most, "at least", _LEAST_POINTS, "")


def front_of(table: Table) -> list[Row]:
    """The policies of the exact front, fastest first."""
    kept: list[Row] = []
    trained = [row for row in table.rows if row.mean is not None]
    for row in sorted(trained, key=lambda row: (-row.speedup, row.mean)):
        if not kept or _mean(row) < _mean(kept[-1]):
            kept.append(row)
    return kept


def _mean(row: Row) -> float:
    return math.inf if row.mean is None else row.mean
