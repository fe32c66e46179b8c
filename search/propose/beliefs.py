"""What a search believes of untried policies: the quality that they lose, how sure that is, and their chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .additive_loss import AdditiveLoss, Features
from .arrays import Floats, Ints, rows_of
from .cost_model import CostModel
from .hazards import Hazards, believe
from .prior import Prior
from .proposer import Tried
from .targets import Expected

# A border may make things better or worse by up to this share of what its sites lose (as `additive_loss` has it).
_BORDER_SHARE = 0.3
# No site is so surely harmless that nothing could be learnt of it: least deviation of a weight, in units of noise.
_LEAST_DEVIATION = 0.05


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Expected loss of quality, its spread and the chance to train, for any choices.

    `weights` are the expected quality lost by column of `features`, `learnt_from` (trials, sites) the choices of
    the trials that trained, and `noise` the standard deviation of one trial's quality lost; losses are in the
    metric's unit.
    """

    features: Features
    weights: Floats
    hazards: Hazards
    learnt_from: Ints
    noise: float

    def quality_lost(self, choices: Ints) -> Floats:
        """What policies are expected to lose if they train: (n, sites) gives (n,)."""
        return self.features.of(choices) @ self.weights

    def spread(self, choices: Ints) -> Floats:
        """The standard deviation of what they are expected to lose, the noise of a trial not counted: (n,)."""
        rows = self.features.of(choices)
        return np.sqrt(((rows @ self.covariance) * rows).sum(axis=1).clip(0))

    def trains(self, choices: Ints) -> Floats:
        """The chance of policies to train: (n,)."""
        return self.hazards.trains(self.features.of(choices)[:, : self.features.single])

    @property
    def expected(self) -> Expected:
        """What a solution for a target takes of it."""
        return Expected(self.weights, self.hazards.chance, self.worst_lost)

    @property
    def worst_lost(self) -> float:
        """The loss from which on quality counts for nothing: that of everything low, and never mere noise."""
        return max(self.features.most_lost(self.weights), 4 * self.noise)

    def moved(self, before: "Beliefs") -> float:
        """How far the most changed belief is from what it was, between 0 and 1.

        Beliefs are each site's chance to be a hazard, and its expected loss as a share of `worst_lost`.
        """
        single = self.features.single
        if not single:
            return 0.0
        chances = np.abs(self.hazards.chance - before.hazards.chance)
        losses = np.abs(self.weights[:single] - before.weights[:single]) / max(self.worst_lost, before.worst_lost)
        return float(min(max(chances.max(), losses.max()), 1.0))

    @cached_property
    def covariance(self) -> Floats:
        """That of the weights, (columns, columns), in a linear model with normal noise.

        Before any trial each weight deviates by as much as it is expected to be: a loss is not negative, and where
        only its mean is known the distribution of most entropy is the exponential one (Jaynes, 1957).
        """
        before = np.maximum(np.abs(self.weights), _LEAST_DEVIATION * self.noise)
        before[self.features.single :] = _BORDER_SHARE * self.features.lesser(before) + 1e-12
        # Scaled by the deviations the matrix stays well-conditioned, whatever the metric's unit.
        scaled = self.features.of(self.learnt_from) * before / self.noise
        inner = np.linalg.inv(np.eye(len(before)) + scaled.T @ scaled)
        return before[:, None] * inner * before


class Learner:
    """Makes beliefs of a history; what was learnt is kept, so that the next call learns from the new trials only.

    `noise` is the standard deviation of one trial's quality lost, in the metric's unit. `prior` says what is known
    of the sites before the first trial; `earlier` are trials of an earlier study of the same sites, their losses
    brought to this one's noise. Equal histories, seeds and draws give equal beliefs.
    """

    def __init__(
        self,
        costs: CostModel,
        noise: float,
        prior: Prior | None = None,
        seed: int = 0,
        earlier: Sequence[Tried] = (),
    ) -> None:
        """Nothing is tried yet."""
        self.features = Features(costs.sizes, tuple((border.first, border.second) for border in costs.borders))
        self._noise = noise
        self._earlier = tuple(earlier)
        self._prior = (prior or Prior({})).columns(costs, self.features)
        self._loss = AdditiveLoss(self.features, noise, self._prior.emphasis, seed)

    def believe(self, tried: Sequence[Tried], rng: np.random.Generator) -> Beliefs:
        """What these trials, after the earlier study's, leave to be believed."""
        known = (*self._earlier, *tried)
        history = [(trial.choices, trial.quality_lost) for trial in known if trial.quality_lost is not None]
        weights = self._loss.weights(history)
        hazards = believe(self.features, self._prior.hazard, known, rng)
        choices = rows_of([choices for choices, _ in history], self.features.sites)
        return Beliefs(self.features, weights, hazards, choices, self._noise)
