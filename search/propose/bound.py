"""How good the best policy is: how much faster one could be that no trial speaks against.

A trial that failed speaks against its own policy; where its diagnosis named sites, against every policy that makes
the same choices at all of them. A policy that lost more quality than allowed speaks against itself alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .beliefs import Beliefs
from .cost_model import Choices, CostModel
from .integer_program import Exclusion
from .proposer import Tried
from .targets import Targets


@dataclass(frozen=True, slots=True)
class Bound:
    """Speeds over float32's, by the cost model.

    `best` is that of the best policy so far, `possible` that of the fastest one not shown to fail, and `believed`
    that of the fastest of these that, under the beliefs, more likely trains than not and loses no more than
    allowed.
    """

    best: float
    possible: float
    believed: float

    @property
    def left(self) -> float:
        """How much faster than the best any policy can be that was not shown to fail: 0.013 is 1.3%."""
        return max(self.possible / self.best - 1, 0.0)

    @property
    def left_by_belief(self) -> float:
        """The same under the beliefs."""
        return max(self.believed / self.best - 1, 0.0)


def bound_of(
    costs: CostModel, beliefs: Beliefs, failed: Iterable[Tried], max_quality_lost: float, best_speedup: float
) -> Bound:
    """What is left above the best policy's speed.

    `failed` are the trials that did not train or lost too much; `max_quality_lost` is in the metric's unit.
    """
    targets = Targets(costs, beliefs.features, shown_to_fail(failed))

    def speedup(choices: Choices | None) -> float:
        return best_speedup if choices is None else costs.speedup(choices)

    return Bound(
        best=best_speedup,
        possible=speedup(targets.fastest()),
        believed=speedup(targets.least_time(beliefs.expected, max_quality_lost)),
    )


def shown_to_fail(failed: Iterable[Tried]) -> tuple[Exclusion, ...]:
    """The policies that trials speak against, of trials that did not train or lost too much quality."""
    return tuple(dict.fromkeys(map(_against, failed)))


def _against(trial: Tried) -> Exclusion:
    named = frozenset((site, trial.choices[site]) for site in trial.blamed if trial.choices[site])
    return named if named and not trial.trained else frozenset(enumerate(trial.choices))
