"""Which sites ruin training in low precision: beliefs from rules and trials, sampled by Gibbs.

A site and low choice (a column of `Features`) either is a hazard or isn't. A policy trains when it holds none, up
to a small chance that the neighbours cure it; a failure holds one, most likely where its diagnosis points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from .additive_loss import Features
from .arrays import Bools, Floats, rows_of
from .proposer import Tried

# Chances that a policy trains although it holds a hazard, that a diagnosis points at the wrong column, and that a
# policy fails although it holds none. They are small, and never zero: no belief becomes certain.
_CURED = 0.02
_MISPOINTED = 0.05
_NO_REASON = 0.01
_SAMPLES = 32
_BURN_IN = 4


@dataclass(frozen=True)
class Hazards:
    """The `chance` of each column to be a hazard.

    Columns of failed policies depend on each other, since one of them is to blame: `tied` marks them, and
    `samples` (samples, columns) are draws of all of them together. `cured` is the chance of each column that a
    policy trains although it is a hazard: `_CURED` at first, and after m diagnoses that named it 1 / (1 + m) of
    that, the mean of a beta distribution that weighs one trial.
    """

    chance: Floats
    tied: Bools
    samples: Bools
    cured: Floats

    def trains(self, rows: Floats) -> Floats:
        """The chance of each policy, given by its columns, to train: (n,)."""
        free = np.where(self.tied, 0.0, self.chance)
        alone = np.exp(rows @ np.log1p(-(1 - self.cured) * free))
        held = rows[:, self.tied] @ (self.samples[:, self.tied] * np.log(self.cured[self.tied])).T
        return alone * np.mean(np.exp(held), axis=1)


def believe(features: Features, prior: Floats, tried: Sequence[Tried], rng: np.random.Generator) -> Hazards:
    """Hazards given the trials; `prior` is the chance of each column before any of them, inside (0, 1).

    Pending trials teach nothing: their ends are not known.
    """
    history = [trial for trial in tried if not trial.pending]
    rows = features.of(rows_of([trial.choices for trial in history], features.sites))[:, : features.single]
    trained = np.array([trial.trained for trial in history], dtype=bool)
    # A policy that trains can hold a hazard only if it was cured there, each time anew.
    log_odds = _log_odds(prior) + log(_CURED) * rows[trained].sum(axis=0)
    held = rows[~trained] > 0
    tied = held.any(axis=0)
    pointed = _pointed(features, [trial for trial in history if not trial.trained])
    failures = _Failures(held, pointed)
    samples = failures.sample(log_odds, np.flatnonzero(tied).tolist(), rng)
    chance = np.where(
        tied,
        np.clip(samples.mean(axis=0), 0.5 / _SAMPLES, 1 - 0.5 / _SAMPLES),
        0.5 + 0.5 * np.tanh(0.5 * log_odds),
    )
    return Hazards(chance, tied, samples, _CURED / (1 + pointed.sum(axis=0)))


def _pointed(features: Features, failed: Sequence[Tried]) -> Bools:
    """(failures, columns): the low choices of the sites that each diagnosis named."""
    column_of = {column: number for number, column in enumerate(features.columns)}
    pointed = np.zeros((len(failed), features.single), dtype=bool)
    for row, trial in enumerate(failed):
        for site in trial.blamed:
            column = column_of.get((site, trial.choices[site]))
            if column is not None:
                pointed[row, column] = True
    return pointed


class _Failures:
    """What each failed policy held in low precision, and what its diagnosis points at: (failures, columns) each.

    A column's failures are kept as the bits of a number: most questions are then one operation for all of them.
    """

    def __init__(self, held: Bools, pointed: Bools) -> None:
        self._of_column = list(zip(_bits(held), _bits(pointed), strict=True))
        self._diagnosed = _number(pointed.any(axis=1))
        # A wrong column is one of many that could have been named.
        self._log_held = np.log(np.maximum(held.sum(axis=1), 1)).tolist()
        self._start = np.flatnonzero(pointed.any(axis=0)).tolist()

    def sample(self, log_odds: Floats, columns: Sequence[int], rng: np.random.Generator) -> Bools:
        """Draws of the tied columns, one after the other given the rest; the others stay False."""
        samples = np.zeros((_SAMPLES, len(log_odds)), dtype=bool)
        odds = log_odds.tolist()
        hazards = set(self._start)
        named, unnamed = self._of(hazards)
        # Columns of the same failures are alike in this, and most are.
        known: dict[tuple[int, int], float] = {}
        for turn in range(_BURN_IN + _SAMPLES):
            for column, drawn in zip(columns, _log_odds(rng.random(len(columns))).tolist(), strict=True):
                if column in hazards:
                    ratio = self._log_ratio(*self._of_column[column], *self._of(hazards - {column}))
                else:
                    kind = self._of_column[column]
                    ratio = known.get(kind)
                    if ratio is None:
                        ratio = known[kind] = self._log_ratio(*kind, named, unnamed)
                if (drawn < odds[column] + ratio) != (column in hazards):
                    hazards ^= {column}
                    named, unnamed = self._of(hazards)
                    known = {}
            if turn >= _BURN_IN:
                samples[turn - _BURN_IN, list(hazards)] = True
        return samples

    def _of(self, hazards: set[int]) -> tuple[int, int]:
        """The failures in which a hazard was named, and those that held one."""
        named = held = 0
        for column in hazards:
            named |= self._of_column[column][1]
            held |= self._of_column[column][0]
        return named, held

    def _log_ratio(self, own: int, pointed: int, named: int, held: int) -> float:
        """How much likelier the failures are with a hazard beside others than without it, as a logarithm.

        `own` are the failures that hold it, `pointed` those that name it; `named` and `held` are the others'. A
        failure has chance 1 where a hazard is named, or held and nothing is named; one in so many columns times
        `_MISPOINTED` where a hazard is held and something else named; and with no hazard `_NO_REASON` for either.
        """
        open_ = own & ~named
        pointed &= open_
        alone = open_ & ~held
        ratio = -log(_NO_REASON) * (alone & ~self._diagnosed).bit_count()
        ratio += log(_MISPOINTED / _NO_REASON) * (alone & self._diagnosed & ~pointed).bit_count()
        while pointed:
            row = pointed.bit_length() - 1
            ratio += self._log_held[row] - log(_NO_REASON if alone >> row & 1 else _MISPOINTED)
            pointed ^= 1 << row
        return ratio


def _log_odds(chance: Floats) -> Floats:
    # A draw may be 0, and is then below everything.
    return np.log(np.maximum(chance, 1e-300)) - np.log1p(-chance)


def _bits(rows: Bools) -> list[int]:
    """Each column of (failures, columns) as a number, the first failure its lowest bit."""
    return [_number(column) for column in rows.T]


def _number(bits: Bools) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
