"""What each site's low precision costs in quality: an additive model, learnt by Gibbs sampling.

    quality lost = sum over sites of weight(site, choice) + sum over borders of weight(both low) + noise

Most sites lose nothing and a few lose a lot, so weights are not negative and have the horseshoe's heavy-tailed
prior (Carvalho, Polson and Scott, 2010; its sampler by Makalic and Schmidt, 2016). Borders may make things better
or worse, up to a part of what their sites lose.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, log1p
from statistics import NormalDist

import numpy as np

from .arrays import Floats, Ints
from .cost_model import Choices

# Tuned on chains of 20, 60 and 150 sites (benchmarks/search): sweeps for each new trial, the memory of the
# running mean a sweep, the share of its sites' loss that a border may change, and the typical site's scale.
_SWEEPS = 8
_MEMORY = 0.98
_BORDER_SHARE = 0.3
_TYPICAL = 0.7
_SCALE_RANGE = (1e-4, 1e4)

_NORMAL = NormalDist()


class Features:
    """The columns of the model: one for each site and low choice, then one for each border."""

    def __init__(self, sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> None:
        """`pairs` are the sites of each border."""
        self.columns = [(site, choice) for site, size in enumerate(sizes) for choice in range(1, size)]
        self.pairs = np.array(pairs, dtype=int).reshape(-1, 2)
        self._site_of = np.array([site for site, _ in self.columns], dtype=int)
        self._choice_of = np.array([choice for _, choice in self.columns], dtype=int)
        self.sites = len(sizes)
        self.single = len(self.columns)
        self.all = self.single + len(self.pairs)

    def of(self, choices: Ints) -> Floats:
        """(n, sites) choices as (n, columns) zeros and ones."""
        low = choices[:, self._site_of] == self._choice_of
        both = (choices[:, self.pairs[:, 0]] > 0) & (choices[:, self.pairs[:, 1]] > 0)
        return np.hstack([low, both]).astype(float)


@dataclass
class _State:
    weights: Floats
    local: Floats
    total: Floats
    count: float


class AdditiveLoss:
    """The chain of samples that grows with the history; the same history and seed give the same chain.

    `noise` is the standard deviation of one trial's quality lost, in the metric's unit, above 0. `emphasis` is, by
    column of the sites, how much more than others a site is thought to lose (1 for all where nothing is known).
    """

    def __init__(self, features: Features, noise: float, emphasis: Floats, seed: int) -> None:
        """An empty history."""
        self._features = features
        self._variance = noise**2
        self._emphasis = emphasis
        self._seed = seed
        self._fed: list[tuple[Choices, float]] = []
        self._rows = np.zeros((0, features.all))
        self._lost = np.zeros(0)
        self._state: _State | None = None

    def weights(self, history: Sequence[tuple[Choices, float]]) -> Floats:
        """The posterior mean of every column's weight, as far as the chain has come with this history."""
        if list(history[: len(self._fed)]) != self._fed:
            self._fed, self._state = [], None
            self._rows, self._lost = self._rows[:0], self._lost[:0]
        for choices, lost in history[len(self._fed) :]:
            self._add(choices, lost)
        if self._state is None:
            return np.zeros(self._features.all)
        return self._state.total / self._state.count

    def _add(self, choices: Choices, lost: float) -> None:
        self._fed.append((choices, lost))
        self._rows = np.vstack([self._rows, self._features.of(np.array([choices]))])
        self._lost = np.append(self._lost, lost)
        scale = self._scale()
        state = self._state or self._start(scale)
        state.total *= _MEMORY**_SWEEPS
        state.count *= _MEMORY**_SWEEPS
        sweep = _Sweep(self._rows, self._lost, self._variance, self._features, self._emphasis, scale)
        rng = np.random.default_rng([self._seed, len(self._fed)])
        for _ in range(_SWEEPS):
            sweep.run(state, rng)
            state.total += state.weights
            state.count += 1
        self._state = state

    def _scale(self) -> float:
        """What a site loses on average, by least squares through the origin over the number of low sites."""
        low = self._rows[:, : self._features.single].sum(axis=1)
        mean = float(self._lost @ low) / max(float(low @ low), 1.0)
        # Noise alone must not make the model believe that all sites lose nothing at all.
        return max(mean, 0.05 * self._variance**0.5)

    def _start(self, scale: float) -> _State:
        weights = np.zeros(self._features.all)
        # Sites that were always low together are hard to tell apart by single moves: begin where belief begins.
        weights[: self._features.single] = scale * self._emphasis / self._emphasis.mean()
        return _State(weights, np.ones(self._features.single), np.zeros(self._features.all), 0.0)


class _Sweep:
    """One pass over all weights given the rest."""

    def __init__(
        self,
        rows: Floats,
        lost: Floats,
        variance: float,
        features: Features,
        emphasis: Floats,
        scale: float,
    ) -> None:
        self._columns = np.ascontiguousarray(rows.T)
        self._rows = rows
        self._lost = lost
        self._variance = variance
        self._precision = (rows**2).sum(axis=0) / variance
        self._single = features.single
        self._typical = (_TYPICAL * scale * emphasis) ** 2
        first = {site: column for column, (site, _) in reversed(list(enumerate(features.columns)))}
        self._ends = np.array([[first[a], first[b]] for a, b in features.pairs], dtype=int).reshape(-1, 2)

    def run(self, state: _State, rng: np.random.Generator) -> None:
        """Renew the local scales, then every weight in random order."""
        single, weights = self._single, state.weights
        self._renew_local(state, rng)
        smaller = np.minimum(weights[self._ends[:, 0]], weights[self._ends[:, 1]])
        borders = (_BORDER_SHARE * np.maximum(smaller, 1e-9)) ** 2
        prior = np.concatenate([self._typical * state.local, borders])
        precision = self._precision + 1 / prior
        deviation = precision**-0.5
        residual = self._lost - self._rows @ weights
        uniform, normal = rng.random(len(weights)), rng.standard_normal(len(weights))
        for column in rng.permutation(len(weights)).tolist():
            values = self._columns[column]
            fit = float(values @ residual) / self._variance + self._precision[column] * weights[column]
            mean, spread = float(fit / precision[column]), float(deviation[column])
            if column < single:
                drawn = _truncated(mean, spread, float(uniform[column]))
            else:
                drawn = mean + spread * float(normal[column])
            residual -= values * (drawn - weights[column])
            weights[column] = drawn

    def _renew_local(self, state: _State, rng: np.random.Generator) -> None:
        single = self._single
        auxiliary = (1 + 1 / state.local) / rng.gamma(1.0, size=single)
        rate = 1 / auxiliary + state.weights[:single] ** 2 / (2 * self._typical)
        state.local = np.clip(rate / rng.gamma(1.0, size=single), *_SCALE_RANGE)


def _truncated(mean: float, spread: float, uniform: float) -> float:
    """A draw from the normal distribution above 0, by inverting its distribution function."""
    below = 0.5 * erfc(mean / spread / 2**0.5)
    if below > 1 - 1e-9:
        # Far in the tail the distribution is exponential with this rate.
        return -log1p(-uniform) * spread**2 / max(-mean, spread)
    return max(mean + spread * _NORMAL.inv_cdf(below + uniform * (1 - below)), 0.0) if uniform > 0 else 0.0
