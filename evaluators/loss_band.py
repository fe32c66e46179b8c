"""The band that float32's losses move in, and the rule by which a trial that leaves it is given up."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

# A loss is out of the band when it is above every float32 run by more than this many times what they differ by.
SPREADS = 4
# They count as differing by at least this share of what float32 has learnt: three runs can agree by chance.
LEAST_SHARE = 0.05
# The share of a run over which losses are averaged.
WINDOW_SHARE, LEAST_WINDOW = 8, 5
# The share of a run in which nothing is judged yet.
GRACE_SHARE = 4


@dataclass(frozen=True)
class LossBand:
    """Float32's losses by applied update, one curve a seed; the longest seeds it as long as any of them lasts.

    Curves are finite and may differ in length. Without a curve there is no band, and nothing is out of it.
    """

    curves: tuple[tuple[float, ...], ...] = ()

    @property
    def window(self) -> int:
        """Over how many losses an average goes."""
        return max(self._shared // WINDOW_SHARE, LEAST_WINDOW)

    @property
    def patience(self) -> int:
        """How many averages in a row must be out of the band: a peak shorter than a window is part of fewer."""
        return 2 * self.window

    @property
    def grace(self) -> int:
        """The first update at which anything is judged."""
        return max(self._shared // GRACE_SHARE, 2 * self.window)

    def limit(self, updates: int) -> float | None:
        """The highest average loss inside the band after so many applied updates; None where it is not known."""
        reaching = [curve[updates] for curve in self._smoothed if len(curve) > updates]
        if not reaching or updates < self.grace:
            return None
        return max(reaching) + SPREADS * self._spread(updates)

    def _spread(self, updates: int) -> float:
        """By how much the runs differ around an update, or at the last one that all of them reached."""
        place = min(updates, self._shared - 1)
        around = slice(max(place - self.window, 0), place + self.window + 1)
        rows = np.array([curve[: self._shared][around] for curve in self._smoothed])
        return max(float(np.ptp(rows, axis=0).max()), LEAST_SHARE * self._learnt)

    @cached_property
    def _shared(self) -> int:
        return min((len(curve) for curve in self.curves), default=0)

    @cached_property
    def _smoothed(self) -> list[NDArray[np.float64]]:
        return [averages(curve, self.window) for curve in self.curves]

    @cached_property
    def _learnt(self) -> float:
        return max(float(curve.max() - curve.min()) for curve in self._smoothed)


@dataclass
class BandWatch:
    """One trial beside the band: `leaves` is told each of its losses in turn."""

    band: LossBand
    _recent: list[float] = field(default_factory=list[float])
    _out_in_a_row: int = 0

    def leaves(self, loss: float, updates: int) -> bool:
        """Whether the trial is to be given up; `updates` were applied before this finite loss.

        Float32 is looked up by applied updates, so that skips while a loss scale is found count for nothing.
        """
        self._recent = [*self._recent, loss][-self.band.window :]
        limit = self.band.limit(updates)
        whole = len(self._recent) == self.band.window
        out = limit is not None and whole and float(np.mean(self._recent)) > limit
        self._out_in_a_row = self._out_in_a_row + 1 if out else 0
        return self._out_in_a_row >= self.band.patience


def averages(losses: Sequence[float], window: int) -> NDArray[np.float64]:
    """At each place the mean of the last `window` values, of fewer at the beginning."""
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    ends = np.arange(1, len(losses) + 1)
    starts = np.maximum(ends - window, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)
