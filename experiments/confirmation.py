"""The chosen policy trained again with the other seeds of float32's repeats: does it keep its quality?"""

import statistics
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Finite
from .float32_repeats import Float32Repeats
from .records import TrialRecord

# In a trial's folder.
CONFIRMATION_FILE = "confirmation.json"

# Student's t for a two-sided 95% interval, by degrees of freedom (R. A. Fisher and F. Yates, Statistical Tables).
_STUDENT_T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}


class Confirmation(BaseModel):
    """Quality lost against float32 by seed, in the metric's unit; None where the policy did not train.

    `allowed` is what may be lost on average.
    """

    model_config = ConfigDict(frozen=True)

    quality_lost: dict[int, Finite | None]
    allowed: Finite

    @property
    def mean(self) -> float | None:
        """The mean loss; None if a seed did not train."""
        known = self._known
        return statistics.fmean(known) if len(known) == len(self.quality_lost) else None

    @property
    def holds(self) -> bool:
        """Whether every seed trained and the mean loss is allowed."""
        return self.mean is not None and self.mean <= self.allowed

    def __str__(self) -> str:
        """Such as "loses 0.0012 of quality on average over 3 seeds (95% interval -0.001 to 0.0034)"."""
        failed = [seed for seed, lost in self.quality_lost.items() if lost is None]
        if failed or self.mean is None:
            return f"does not train with seed {', '.join(map(str, failed))}"
        half = _STUDENT_T[len(self._known) - 1] * statistics.stdev(self._known) / len(self._known) ** 0.5
        interval = f"95% interval {self.mean - half:.2g} to {self.mean + half:.2g}"
        return f"loses {self.mean:.2g} of quality on average over {len(self._known)} seeds ({interval})"

    @property
    def _known(self) -> list[float]:
        return [lost for lost in self.quality_lost.values() if lost is not None]


def confirm(record: TrialRecord, evaluator: Evaluator, repeats: Float32Repeats, tolerance: float) -> Confirmation:
    """Train the trial's policy with the other seeds of float32's repeats; what it comes to is kept in its folder.

    `tolerance` is relative to float32's quality on the trial's own seed.
    """
    qualities = {evaluator.seed: record.outcome.quality}
    for seed in repeats.qualities:
        if seed not in qualities:
            again = replace(evaluator, seed=seed)
            qualities[seed] = again.evaluate(record.policy, None, record.folder / f"seed-{seed}").quality
    direction = evaluator.survey.direction
    found = Confirmation(
        quality_lost={s: quality_lost(q, repeats.qualities[s], direction) for s, q in qualities.items()},
        allowed=tolerance * abs(repeats.qualities[evaluator.seed]),
    )
    write_json(found, record.folder / CONFIRMATION_FILE)
    return found


def confirmation_of(record: TrialRecord) -> Confirmation | None:
    """What came of the trial's policy with other seeds, if it was trained with them."""
    file = record.folder / CONFIRMATION_FILE
    return read_json(Confirmation, file) if file.exists() else None


def quality_lost(quality: float | None, float32: float, direction: str) -> float | None:
    """What was lost against float32: positive is worse, whichever way the metric runs; None without a quality."""
    if quality is None:
        return None
    return float32 - quality if direction == "maximize" else quality - float32
