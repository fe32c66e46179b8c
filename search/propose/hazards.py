"""Which sites ruin training in low precision: beliefs from rules and trials, sampled by Gibbs.

A site and low choice (a column of `Features`) either is a hazard or isn't. A policy trains when it holds none, up
to a small chance that the neighbours cure it; a failure holds one, most likely where its diagnosis points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .additive_loss import Features
from .arrays import Bools, Floats
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
    `samples` (samples, columns) are draws of all of them together.
    """

    chance: Floats
    tied: Bools
    samples: Bools

    def trains(self, rows: Floats) -> Floats:
        """The chance of each policy, given by its columns, to train: (n,)."""
        free = np.where(self.tied, 0.0, self.chance)
        alone = np.exp(rows @ np.log1p(-(1 - _CURED) * free))
        held = rows[:, self.tied] @ self.samples[:, self.tied].T.astype(float)
        return alone * np.mean(_CURED**held, axis=1)


def believe(features: Features, prior: Floats, tried: Sequence[Tried], rng: np.random.Generator) -> Hazards:
    """Hazards given the trials; `prior` is the chance of each column before any of them, inside (0, 1)."""
    history = [trial for trial in tried if not trial.pending]
    choices = np.array([trial.choices for trial in history], dtype=np.int64).reshape(-1, features.sites)
    rows = features.of(choices)[:, : features.single]
    trained = np.array([trial.trained for trial in history], dtype=bool)
    # A policy that trains can hold a hazard only if it was cured there, each time anew.
    odds = prior / (1 - prior) * _CURED ** rows[trained].sum(axis=0)
    failures = _Failures(rows[~trained] > 0, _pointed(features, [t for t in history if not t.trained]))
    tied = failures.held.any(axis=0)
    samples = failures.sample(odds, tied, rng)
    chance = np.where(tied, np.clip(samples.mean(axis=0), 0.5 / _SAMPLES, 1 - 0.5 / _SAMPLES), odds / (1 + odds))
    return Hazards(chance, tied, samples)


def _pointed(features: Features, failed: Sequence[Tried]) -> Bools:
    """(failures, columns): the low choices of the sites that each diagnosis named."""
    pointed = np.zeros((len(failed), features.single), dtype=bool)
    for row, trial in enumerate(failed):
        for column, (site, choice) in enumerate(features.columns):
            pointed[row, column] = site in trial.blamed and trial.choices[site] == choice
    return pointed


@dataclass(frozen=True)
class _Failures:
    """(failures, columns): what each failed policy held in low precision, and what its diagnosis points at."""

    held: Bools
    pointed: Bools

    def sample(self, odds: Floats, tied: Bools, rng: np.random.Generator) -> Bools:
        """Draws of the tied columns, one after the other given the rest; the others stay False."""
        hazard = self.pointed.any(axis=0)
        samples = np.zeros((_SAMPLES, len(odds)), dtype=bool)
        columns = np.flatnonzero(tied)
        for turn in range(_BURN_IN + _SAMPLES):
            uniform = rng.random(len(columns))
            for place, column in enumerate(columns.tolist()):
                hazard[column] = False
                without = self._likelihood(hazard, column)
                hazard[column] = True
                ratio = odds[column] * self._likelihood(hazard, column) / without
                hazard[column] = uniform[place] < ratio / (1 + ratio)
            if turn >= _BURN_IN:
                samples[turn - _BURN_IN] = hazard
        return samples

    def _likelihood(self, hazard: Bools, column: int) -> float:
        """How likely the failures that hold a column are, given the hazards."""
        held = self.held[self.held[:, column]]
        pointed = self.pointed[self.held[:, column]]
        named = (pointed & hazard).any(axis=1)
        unnamed = (held & hazard).any(axis=1)
        # A wrong column is one of many that could have been named.
        others = 1 / np.maximum(held.sum(axis=1), 1)
        elsewhere = np.where(pointed.any(axis=1), _MISPOINTED * others, 1.0)
        nowhere = np.where(pointed.any(axis=1), _NO_REASON * others, _NO_REASON)
        return float(np.prod(np.where(named, 1.0, np.where(unnamed, elsewhere, nowhere))))
