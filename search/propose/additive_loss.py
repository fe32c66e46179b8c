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

from .arrays import Floats, Ints, rows_of
from .cost_model import Choices

# Tuned on chains of 20, 60 and 150 sites (benchmarks/search): sweeps for each new trial, the memory of the running
# mean a sweep, the share of its sites' loss that a border may change, and the typical site's scale. After so many
# trials each one changes less, and there are fewer sweeps, but at least two.
_SWEEPS, _FULL_UNTIL, _LEAST_SWEEPS = 8, 64, 2
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
        """(n, sites) choices as (n, columns) zeros and ones.

        A border counts as low on both sides whatever the two low precisions are.
        """
        rows = np.empty((len(choices), self.all))
        np.equal(choices[:, self._site_of], self._choice_of, out=rows[:, : self.single])
        low = choices > 0
        np.logical_and(low[:, self.pairs[:, 0]], low[:, self.pairs[:, 1]], out=rows[:, self.single :])
        return rows

    def most_lost(self, weights: Floats) -> float:
        """What the worst low choice of every site loses together, with the borders that make it worse."""
        return float(self._worst_of_site(weights).sum() + np.maximum(weights[self.single :], 0).sum())

    def lesser(self, weights: Floats) -> Floats:
        """(borders,): of a border's two sites, the lesser of what they lose at worst."""
        worst = self._worst_of_site(weights)
        return np.minimum(worst[self.pairs[:, 0]], worst[self.pairs[:, 1]])

    def _worst_of_site(self, weights: Floats) -> Floats:
        """(sites,): 0 for a site that has float32 alone."""
        worst = np.zeros(self.sites)
        np.maximum.at(worst, self._site_of, weights[: self.single])
        return worst


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
        self._forget()

    def weights(self, history: Sequence[tuple[Choices, float]]) -> Floats:
        """The posterior mean of every column's weight, as far as the chain has come with this history."""
        if not self._features.single:
            return np.zeros(self._features.all)
        if list(history[: len(self._fed)]) != self._fed:
            self._forget()
        new = history[len(self._fed) :]
        for (choices, lost), row in zip(new, self._features.of(self._rows(new)), strict=True):
            self._fed.append((choices, lost))
            self._add(row, lost)
        if self._state is None:
            return np.zeros(self._features.all)
        return self._state.total / self._state.count

    def _forget(self) -> None:
        self._fed: list[tuple[Choices, float]] = []
        self._seen = _Seen.nothing(self._features.all)
        self._state: _State | None = None

    def _rows(self, history: Sequence[tuple[Choices, float]]) -> Ints:
        return rows_of([choices for choices, _ in history], self._features.sites)

    def _add(self, row: Floats, lost: float) -> None:
        self._seen.add(row, lost, float(row[: self._features.single].sum()))
        # Noise alone must not make the model believe that all sites lose nothing at all.
        scale = max(self._seen.mean_lost, 0.05 * self._variance**0.5)
        state = self._state or self._start(scale)
        sweeps = min(_SWEEPS, max(_SWEEPS * _FULL_UNTIL // len(self._fed), _LEAST_SWEEPS))
        state.total *= _MEMORY**sweeps
        state.count *= _MEMORY**sweeps
        sweep = _Sweep(self._seen, self._variance, self._features, self._emphasis, scale)
        rng = np.random.default_rng([self._seed, len(self._fed)])
        for _ in range(sweeps):
            sweep.run(state, rng)
            state.total += state.weights
            state.count += 1
        self._state = state

    def _start(self, scale: float) -> _State:
        weights = np.zeros(self._features.all)
        # Sites that were always low together are hard to tell apart by single moves: begin where belief begins.
        weights[: self._features.single] = scale * self._emphasis / self._emphasis.mean()
        return _State(weights, np.ones(self._features.single), np.zeros(self._features.all), 0.0)


@dataclass
class _Seen:
    """All that the model needs of the trials, whatever their number.

    `products` (columns, columns) counts the trials that hold both columns, `lost` (columns,) sums what those that
    hold a column lost; the last two are sums for the mean.
    """

    products: Floats
    lost: Floats
    lost_by_low: float = 0.0
    low_squared: float = 0.0

    @classmethod
    def nothing(cls, columns: int) -> "_Seen":
        """No trial yet."""
        return cls(np.zeros((columns, columns)), np.zeros(columns))

    def add(self, row: Floats, lost: float, low: float) -> None:
        """One trial: its columns, what it lost, and how many of its sites are low."""
        held = np.flatnonzero(row)
        self.products[np.ix_(held, held)] += 1
        self.lost[held] += lost
        self.lost_by_low += lost * low
        self.low_squared += low**2

    @property
    def mean_lost(self) -> float:
        """What a site loses on average, by least squares through the origin over the number of low sites."""
        return self.lost_by_low / max(self.low_squared, 1.0)


class _Sweep:
    """One pass over all weights given the rest."""

    def __init__(self, seen: _Seen, variance: float, features: Features, emphasis: Floats, scale: float) -> None:
        self._rows = list(seen.products)
        self._lost = seen.lost.tolist()
        self._variance = variance
        self._precision = seen.products.diagonal() / variance
        self._features = features
        self._typical = (_TYPICAL * scale * emphasis) ** 2

    def run(self, state: _State, rng: np.random.Generator) -> None:
        """Renew the local scales, then every weight in random order."""
        single, weights = self._features.single, state.weights
        self._renew_local(state, rng)
        borders = (_BORDER_SHARE * np.maximum(self._features.lesser(weights), 1e-9)) ** 2
        precisions = self._precision + 1 / np.concatenate([self._typical * state.local, borders])
        uniform, normal = rng.random(len(weights)).tolist(), rng.standard_normal(len(weights)).tolist()
        deviations, precisions = (precisions**-0.5).tolist(), precisions.tolist()
        own, values = self._precision.tolist(), weights.tolist()
        for column in rng.permutation(len(weights)).tolist():
            unexplained = self._lost[column] - float(self._rows[column].dot(weights))
            mean = (unexplained / self._variance + own[column] * values[column]) / precisions[column]
            if column < single:
                weights[column] = _truncated(mean, deviations[column], uniform[column])
            else:
                weights[column] = mean + deviations[column] * normal[column]

    def _renew_local(self, state: _State, rng: np.random.Generator) -> None:
        single = self._features.single
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
