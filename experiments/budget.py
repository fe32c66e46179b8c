"""What a search may cost, and why it must end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from ..evaluators.survey_result import Survey
from ..policies.errors import InputError
from .cost import Cost
from .duration import duration_text
from .experiment_file import Experiment
from .float32_repeats import REPEATS
from .long_float32 import FRESH_SEEDS, LONGER

# Of the training steps that a search may cost, confirming its choice is kept no more than this share.
_MOST_RESERVED = 3
# In how many whole trainings a search makes do, beyond what its short trials take.
_FULL_RUNS = 2


@dataclass(frozen=True)
class Budget:
    """Bounds of one study over all its starts; None is no bound.

    `full_runs` bounds the training steps of every kind, in multiples of `full_steps`; without it longer trainings
    and confirmations of what is not chosen go no further than two. `reserve_steps` of them are kept for confirming
    the choice, but never more than a third of all. After `patience` trials in a row that
    changed nothing the search ends.
    """

    trials: int
    full_steps: int
    full_runs: float | None = None
    time_limit: timedelta | None = None
    patience: int | None = None
    reserve_steps: int = 0

    def used_up(self, trials: int, cost: Cost, next_steps: int) -> str | None:
        """Why no further trial of `next_steps` steps may start, in words; None while one may.

        The first one always may: it is float32's, which everything is held against.
        """
        if trials == 0:
            return None
        if trials >= self.trials:
            return f"all {self.trials} trials were made (trials)"
        if self.time_limit is not None and self.out_of_time(cost):
            return f"its time is up (time_limit: {duration_text(self.time_limit)})"
        if self.full_runs is not None and not self.affords(cost, next_steps):
            return (
                f"with another trial of {next_steps} steps, and a confirmation of the choice, it would cost more "
                f"than {self.full_runs:g} full trainings of {self.full_steps:,} steps (full_runs)"
            )
        if self.patience is not None and cost.calm_trials >= self.patience:
            return (
                f"for {cost.calm_trials} trials nothing changed: no point of the front beyond noise, no belief by "
                "more than 0.05 (patience)"
            )
        return None

    def affords(self, cost: Cost, steps: int) -> bool:
        """Whether so many more steps leave what is kept for the confirmation."""
        return cost.steps + steps <= self.steps - min(self.reserve_steps, self.steps // _MOST_RESERVED)

    def out_of_time(self, cost: Cost) -> bool:
        """Whether the time is up."""
        return self.time_limit is not None and cost.time_s >= self.time_limit.total_seconds()

    def left_steps(self, cost: Cost) -> int:
        """The training steps that are left in all."""
        return max(self.steps - cost.steps, 0)

    @property
    def steps(self) -> int:
        """The training steps that the study may cost; short trials are bound by it only with `full_runs`."""
        return int((self.full_runs or _FULL_RUNS) * self.full_steps)

    def words(self) -> dict[str, str]:
        """The bounds as an experiment file has them; those that there are."""
        bounds = {
            "time_limit": self.time_limit and duration_text(self.time_limit),
            "full_runs": None if self.full_runs is None else f"{self.full_runs:g}",
            "patience": None if self.patience is None else str(self.patience),
        }
        return {name: bound for name, bound in bounds.items() if bound is not None}


def budget_of(experiment: Experiment, lengths: Sequence[int], survey: Survey) -> Budget:
    """What an experiment allows; `lengths` are those of its trials in steps.

    Raises:
        InputError: its training steps would not even do for float32 and one policy.
    """
    confirmed_steps = max(lengths[-1], min(LONGER * lengths[0], survey.full_steps))
    budget = Budget(
        trials=experiment.trials,
        full_steps=survey.full_steps,
        full_runs=experiment.full_runs,
        time_limit=experiment.time_limit,
        patience=experiment.patience,
        reserve_steps=0 if experiment.confirm == "none" else 2 * FRESH_SEEDS * confirmed_steps,
    )
    # Float32's repeats, its trial and one more, from what is not kept for the confirmation.
    least = math.ceil((REPEATS + 2) * lengths[0] * _MOST_RESERVED / (_MOST_RESERVED - 1))
    if experiment.full_runs is not None and budget.steps < least:
        raise InputError(
            f"full_runs {experiment.full_runs:g}: float32 and one policy in trials of {lengths[0]} steps take "
            f"{least / survey.full_steps:.2g} full trainings of {survey.full_steps:,} steps; give at least that, "
            "or shorter trials (`steps`)"
        )
    return budget
