"""Reinforcement learning: a policy gradient over independent choices, one softmax for each site.

REINFORCE with a baseline (R. J. Williams, "Simple statistical gradient-following algorithms for connectionist
reinforcement learning", Machine Learning 8, 1992, https://doi.org/10.1007/BF00992696). Here for comparison: one
number for the reward leads to one policy and not to a front, and each trial teaches all sites at once, so it takes
hundreds of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Floats
from .cost_model import Choices, CostModel
from .proposer import Tried

# A policy that does not train earns what one earns that gains no speed and loses as much as the worst.
_RUINED = -1.0


@dataclass(frozen=True)
class Reinforce:
    """Draws each site's choice by what the trials taught; a `Proposer`.

    A trial earns its speed-up over float32, less the quality lost as a share of the largest loss so far; one that
    does not train earns -1. All choices begin equally likely. Every trial counts as drawn by this policy, whoever
    proposed it; pending ones teach nothing yet. It may propose what was tried before.
    """

    costs: CostModel
    learning_rate: float = 0.5
    baseline_memory: float = 0.9

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices:
        """A draw; never None."""
        logits = self.logits(tried)
        # The largest of logits with Gumbel noise is a draw from their softmax.
        return self.costs.one_low((logits + rng.gumbel(size=logits.shape)).argmax(axis=1).tolist())

    def logits(self, tried: Sequence[Tried]) -> Floats:
        """What the trials taught: (sites, most choices of a site), -inf where a site has no such choice."""
        over = [trial for trial in tried if not trial.pending]
        logits = self._start()
        baseline = 0.0
        for number, (trial, reward) in enumerate(zip(over, self._rewards(over), strict=True)):
            baseline = reward if number == 0 else baseline
            chosen = np.arange(logits.shape[1]) == np.array(trial.choices)[:, None]
            logits = logits + self.learning_rate * (reward - baseline) * (chosen - _softmax(logits))
            baseline += (1 - self.baseline_memory) * (reward - baseline)
        return logits

    def _start(self) -> Floats:
        places = np.arange(max(self.costs.sizes, default=1))
        return np.where(places < np.array(self.costs.sizes)[:, None], 0.0, -np.inf)

    def _rewards(self, over: Sequence[Tried]) -> list[float]:
        worst = max((trial.quality_lost for trial in over if trial.quality_lost is not None), default=0.0)
        return [self._reward(trial, worst) for trial in over]

    def _reward(self, trial: Tried, worst: float) -> float:
        if trial.quality_lost is None:
            return _RUINED
        return self.costs.speedup(trial.choices) - 1 - (trial.quality_lost / worst if worst > 0 else 0.0)


def _softmax(logits: Floats) -> Floats:
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)
