"""The ladder: from the fastest policy that the beliefs leave likely, downwards, one rung for each speed worth it.

Speed is known exactly from the cost model. Each trial renews two beliefs (`beliefs`): which sites ruin training,
and what the others lose. For a ladder of weightings of time against quality the best policies under these beliefs
are solved exactly; of those the one is proposed that is expected to add most to the front.
"""

from collections.abc import Sequence

import numpy as np

from .arrays import Floats, Ints, rows_of
from .beliefs import Beliefs, Learner
from .cost_model import Choices, CostModel
from .front_gain import front_gain
from .prior import Prior
from .proposer import Tried
from .rungs import Rungs


class Ladder:
    """Proposes by exact solution under beliefs; a `Proposer`.

    `noise`, `prior` and `earlier` are those of the `Learner`. What an earlier study tried shapes the beliefs, and
    may be tried again. Equal histories and seeds give equal proposals; what was learnt from a history is kept in
    the object, so that the next call learns from the new trials only.
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
        self._costs = costs
        self._learner = Learner(costs, noise, prior, seed, earlier)
        self._rungs = Rungs(costs, self._learner.features)

    def believe(self, tried: Sequence[Tried], rng: np.random.Generator) -> Beliefs:
        """What these trials leave to be believed."""
        return self._learner.believe(tried, rng)

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices | None:
        """The untried policy that is expected to add most to the front.

        None when none is left that is faster than float32.
        """
        beliefs = self.believe(tried, rng)
        chance, worst = beliefs.hazards.chance, beliefs.worst_lost
        rungs = self._rungs.candidates(beliefs.weights, chance, worst, turn=len(tried))
        candidates = self._rungs.untried(rungs, [trial.choices for trial in tried])
        if not len(candidates):
            return None
        known = self._known(tried, beliefs)
        gains = front_gain(
            self._costs.speedups(candidates), _beyond_noise(beliefs, candidates), known, beliefs.worst_lost
        )
        likely = beliefs.trains(candidates)
        # The last term breaks ties where nothing would be added: what is likelier to train.
        return tuple(candidates[int(np.argmax(gains * likely + 1e-9 * likely))].tolist())

    def _known(self, tried: Sequence[Tried], beliefs: Beliefs) -> list[tuple[float, float]]:
        """Speed-up and quality lost of what trains, and of what is still running as if it did.

        The loss is what the model makes of all trials: one trial's own is noisier.
        """
        counted = [trial.choices for trial in tried if trial.trained or trial.pending]
        if not counted:
            return []
        choices = rows_of(counted, len(self._costs.sites))
        lost = _beyond_noise(beliefs, choices)
        return list(zip(self._costs.speedups(choices).tolist(), lost.tolist(), strict=True))


def _beyond_noise(beliefs: Beliefs, choices: Ints) -> Floats:
    """What policies are expected to lose, and noise at least: (n,).

    Less than that no front can tell apart. So once a policy loses nothing but noise, only faster ones are worth a
    trial, and a site that stays float32 without a reason is soon tried low.
    """
    return np.maximum(beliefs.quality_lost(choices), beliefs.noise)
