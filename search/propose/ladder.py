"""The ladder: from the fastest policy that the beliefs leave likely, downwards, one rung for each speed worth it.

Speed is known exactly from the cost model. Each trial renews two beliefs: which sites ruin training (`hazards`),
and what the others lose (`additive_loss`). For a ladder of weightings of time against quality the best policies
under these beliefs are solved exactly; of those the one is proposed that is expected to add most to the front.
"""

from collections.abc import Sequence

import numpy as np

from .additive_loss import AdditiveLoss, Features
from .arrays import Floats, Ints
from .cost_model import Choices, CostModel
from .front_gain import front_gain
from .hazards import believe
from .prior import Prior
from .proposer import Tried
from .rungs import Rungs


class Ladder:
    """Proposes by exact solution under beliefs; a `Proposer`.

    `noise` is the standard deviation of one trial's quality lost, in the metric's unit. `prior` says what is known
    of the sites before the first trial. Equal histories and seeds give equal proposals; what was learnt from a
    history is kept in the object, so that the next call learns from the new trials only.
    """

    def __init__(self, costs: CostModel, noise: float, prior: Prior | None = None, seed: int = 0) -> None:
        """Nothing is tried yet.

        Raises:
            InputError: too many sites border on each other for an exact solution.
        """
        self._costs = costs
        self._noise = noise
        pairs = tuple((border.first, border.second) for border in costs.borders)
        self._features = Features(costs.sizes, pairs)
        self._prior = (prior or Prior({})).columns(costs, self._features)
        self._loss = AdditiveLoss(self._features, noise, self._prior.emphasis, seed)
        self._rungs = Rungs(costs, self._features)

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices | None:
        """The untried policy that is expected to add most to the front.

        None when none is left that is faster than float32.
        """
        history = [(trial.choices, trial.quality_lost) for trial in tried if trial.quality_lost is not None]
        weights = self._loss.weights(history)
        hazards = believe(self._features, self._prior.hazard, tried, rng)
        worst = self._worst_lost(weights)
        rungs = self._rungs.candidates(weights, hazards.chance, worst)
        candidates = self._worth_trying(rungs, tried)
        if not len(candidates):
            candidates = self._worth_trying(self._rungs.around(rungs), tried)
        if not len(candidates):
            return None
        rows = self._features.of(candidates)
        gains = front_gain(self._costs.speedups(candidates), rows @ weights, self._known(tried, weights), worst)
        likely = hazards.trains(rows[:, : self._features.single])
        # The last term breaks ties where nothing would be added: what is likelier to train.
        return tuple(candidates[int(np.argmax(gains * likely + 1e-9 * likely))].tolist())

    def _worth_trying(self, choices: Ints, tried: Sequence[Tried]) -> Ints:
        """Those that have not been tried and are faster than float32."""
        seen = {trial.choices for trial in tried}
        faster = choices[self._costs.speedups(choices) > 1]
        return np.array([row for row in faster.tolist() if tuple(row) not in seen], dtype=np.int64)

    def _known(self, tried: Sequence[Tried], weights: Floats) -> list[tuple[float, float]]:
        """Speed-up and quality lost of what trains, and of what is still running as if it did.

        The loss is what the model makes of all trials: one trial's own is noisier.
        """
        counted = [trial.choices for trial in tried if trial.trained or trial.pending]
        if not counted:
            return []
        choices = np.array(counted, dtype=np.int64)
        lost = self._features.of(choices) @ weights
        return list(zip(self._costs.speedups(choices).tolist(), lost.tolist(), strict=True))

    def _worst_lost(self, weights: Floats) -> float:
        """The loss from which on quality counts for nothing: that of everything low, and never mere noise."""
        return max(float(np.maximum(weights, 0).sum()), 4 * self._noise)
