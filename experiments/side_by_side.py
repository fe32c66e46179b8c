"""Speed as a measured study knows it: every policy that trains, side by side with float32."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import write_json
from ..evaluators.outcome import Outcome
from ..evaluators.process import Failure
from ..policies import Policy
from ..search.front import Point
from .home import StudyFolder
from .progress import Display
from .records import TrialRecord
from .speed import Measured, Speed
from .study_file import BASELINE, COMPARISON_FILE

# Where the two sides of a measurement leave their output, in the trial's folder.
_OUTPUT = "against-float32"
NOT_MEASURED = "speed not measured"

# Six are the fewest whose median has a 95% interval at all: the range of five holds it with 94%.
ROUNDS = 6
# The choice is measured once more, and longer: the fastest of many trials is above all the luckiest.
CHOICE_ROUNDS = 10


@dataclass(frozen=True)
class SideBySide:
    """Measures the policies of one study: each trains `budget_s` seconds, in several pairs of processes."""

    evaluator: Evaluator
    speed: Measured
    budget_s: float

    def timed(self, outcome: Outcome, policy: Policy, place: Path, records: Sequence[TrialRecord]) -> Outcome:
        """The outcome with its speed against float32, or a failed one where that could not be measured.

        Float32 is the measure itself; a policy that compiles to the same step shares its figure, as it shares that
        of any other trial. Where float32 did not train there is nothing to compare with, and trials keep the time
        of their own steps.
        """
        trained = (record for record in records if record.outcome.quality is not None)
        float32 = next((record for record in trained if record.name == BASELINE), None)
        float32_speed = self.speed.of(float32.outcome) if float32 else None
        known = outcome.against_float32 is not None or outcome.status != "trained"
        if known or float32 is None or float32_speed is None or _same_step(outcome, policy, float32):
            return outcome
        found = self.evaluator.compare(policy, place / _OUTPUT, self.budget_s, ROUNDS)
        if isinstance(found, Failure):
            message = f"{found.cause}: {found.message}"
            return outcome.model_copy(update={"status": "failed", "cause": NOT_MEASURED, "message": message})
        return outcome.model_copy(update={"against_float32": found, "float32_samples_per_s": float32_speed})

    def confirm(self, best: Point, policy: Policy, folder: StudyFolder, display: Display) -> bool:
        """Measure the chosen policy once more with fresh blocks; False if that could not be done."""
        place = folder.trial_folder(best.number)
        display.note(f"measuring {best.label} against float32 once more, step by step in turn")
        budget_s = self.budget_s * CHOICE_ROUNDS / ROUNDS
        found = self.evaluator.compare(policy, place / _OUTPUT, budget_s, CHOICE_ROUNDS)
        if isinstance(found, Failure):
            display.note(f"{best.label} could not be measured against float32: {found.cause}: {found.message}")
            return False
        write_json(found, place / COMPARISON_FILE)
        display.note(f"{best.label}: {found}")
        return True


def timing_of(evaluator: Evaluator, speed: Speed, budget_s: float) -> SideBySide | None:
    """What measures the trials of a study that compares by measured speed; None for one that compares by price."""
    return SideBySide(evaluator, speed, budget_s) if isinstance(speed, Measured) else None


def _same_step(outcome: Outcome, policy: Policy, float32: TrialRecord) -> bool:
    own, other = outcome.evidence, float32.outcome.evidence
    if own is None or other is None:
        return False
    return own.training_key(policy) == other.training_key(float32.policy)
