"""A policy trained again with fresh seeds and for longer, against float32 likewise: does it keep its quality?"""

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Finite, Outcome
from ..policies import Policy
from ..policies.errors import HalfwiseError
from ..search.noise import QualityLost
from .long_float32 import LongFloat32, longer
from .records import TrialRecord

if TYPE_CHECKING:
    # Who reads confirmations needs nothing that trains.
    from ..evaluators.evaluator import Evaluator

# In a trial's folder.
CONFIRMATION_FILE = "confirmation.json"


class Confirmation(BaseModel):
    """Quality lost against float32 by seed, in the metric's unit; None where the policy did not train.

    `steps` is the length of each training, `allowed` what may be lost on average, `causes` why a seed did not
    train, and `steps_trained` all training steps that were run for it.
    """

    model_config = ConfigDict(frozen=True)

    steps: int
    quality_lost: dict[int, Finite | None]
    allowed: Finite
    causes: dict[int, str] = {}
    steps_trained: int

    @property
    def lost(self) -> QualityLost | None:
        """The mean loss with its interval; None if a seed did not train."""
        known = [lost for lost in self.quality_lost.values() if lost is not None]
        return QualityLost.of_fresh_seeds(known) if len(known) == len(self.quality_lost) else None

    @property
    def holds(self) -> bool:
        """Whether every seed trained and the mean loss is allowed."""
        lost = self.lost
        return lost is not None and lost.mean <= self.allowed

    @property
    def failure(self) -> str | None:
        """Such as "does not train with seed 3: non-finite at step 150"; None if every seed trained."""
        failed = [seed for seed, lost in self.quality_lost.items() if lost is None]
        if not failed:
            return None
        cause = self.causes.get(failed[0], "no cause given")
        return f"does not train for {self.steps} steps with seed {failed[0]}: {cause}"

    def __str__(self) -> str:
        """Such as "loses 0.0012 of quality (95% interval -0.001 to 0.0034, 3 fresh seeds), 200 steps each"."""
        lost = self.lost
        if lost is None:
            return self.failure or "was trained with no seed"
        verdict = "allowed" if self.holds else "too much: allowed"
        return f"loses {lost}, {self.steps} steps each; {verdict} are {self.allowed:.2g}"


def confirm(record: TrialRecord, evaluator: "Evaluator", float32: LongFloat32, tolerance: float) -> Confirmation:
    """Train the trial's policy as float32 was; what it comes to is kept in the trial's folder.

    `tolerance` is relative to float32's quality; less than float32's own spread is never asked for.

    Raises:
        HalfwiseError: a training did not run to its end, which says nothing of the policy.
    """
    found, _ = held_against(record.policy, record.folder, evaluator, float32, tolerance)
    write_json(found, record.folder / CONFIRMATION_FILE)
    return found


def held_against(
    policy: Policy, place: Path, evaluator: "Evaluator", float32: LongFloat32, tolerance: float
) -> tuple[Confirmation, Outcome]:
    """Train any policy as float32 was, below `place`; with the outcome of its last seed, which carries its price.

    Raises:
        HalfwiseError: as `confirm`.
    """
    direction = evaluator.survey.direction
    outcomes: list[Outcome] = []
    lost: dict[int, float | None] = {}
    causes: dict[int, str] = {}
    for seed, quality in float32.qualities.items():
        again = longer(evaluator, seed, float32.steps)
        outcome = again.evaluate(policy, None, place / f"seed-{seed}")
        if outcome.status == "failed":
            raise HalfwiseError(f"seed {seed} did not run to its end: {outcome.cause}: {outcome.message}")
        outcomes.append(outcome)
        lost[seed] = quality_lost(outcome.quality, quality, direction)
        if outcome.quality is None:
            causes[seed] = outcome.cause or "no cause given"
            break
    found = Confirmation(
        steps=float32.steps,
        quality_lost=lost,
        allowed=max(tolerance * abs(float32.mean), float32.spread),
        causes=causes,
        steps_trained=sum(outcome.steps_run for outcome in outcomes),
    )
    return found, outcomes[-1]


def confirmation_of(record: TrialRecord) -> Confirmation | None:
    """What came of the trial's policy with fresh seeds, if it was trained with them."""
    file = record.folder / CONFIRMATION_FILE
    return read_json(Confirmation, file) if file.exists() else None


def quality_lost(quality: float | None, float32: float, direction: str) -> float | None:
    """What was lost against float32: positive is worse, whichever way the metric runs; None without a quality."""
    if quality is None:
        return None
    return float32 - quality if direction == "maximize" else quality - float32
