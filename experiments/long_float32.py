"""Float32 trained with fresh seeds and for longer than a trial: what confirmations are held against."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Finite
from ..policies import Policy
from ..policies.errors import HalfwiseError
from .home import StudyFolder
from .records import TrialRecord

if TYPE_CHECKING:
    # Who reads confirmations needs nothing that trains.
    from ..evaluators.evaluator import Evaluator

FRESH_SEEDS = 3
# How much longer than a trial a confirmation trains, where the workload's full length allows it.
LONGER = 2


class LongFloat32(BaseModel):
    """The quality that float32 reached in `steps` steps, by seed; `steps_trained` is what that took."""

    model_config = ConfigDict(frozen=True)

    steps: int
    qualities: dict[int, Finite]
    steps_trained: int

    @property
    def mean(self) -> float:
        """Of the qualities."""
        return statistics.fmean(self.qualities.values())

    @property
    def spread(self) -> float:
        """Their standard deviation."""
        return statistics.stdev(self.qualities.values())


def confirmation_steps(evaluator: "Evaluator", records: Sequence[TrialRecord]) -> int:
    """How long a confirmation trains: twice a trial but no full training, and no shorter than any trial did."""
    reached = max((record.outcome.steps for record in records), default=evaluator.steps)
    return max(reached, min(evaluator.survey.full_steps, LONGER * evaluator.steps))


def longer(evaluator: "Evaluator", seed: int, steps: int) -> "Evaluator":
    """The study's evaluator with another seed and length, to train to the end whatever the loss does meanwhile."""
    return replace(evaluator, seed=seed, steps=steps, float32_losses=(), keep_state=False)


def is_kept(folder: StudyFolder, steps: int) -> bool:
    """Whether float32 of that length was trained before."""
    return _file(folder, steps).exists()


def all_kept(folder: StudyFolder) -> list[LongFloat32]:
    """Float32 of every length that was trained before."""
    files = sorted(_file(folder, 0).parent.glob("float32-*-steps.json"))
    return [read_json(LongFloat32, file) for file in files]


def long_float32(evaluator: "Evaluator", policy: Policy, folder: StudyFolder, steps: int) -> LongFloat32:
    """Train `policy`, the study's float32 one, with fresh seeds; or read what was kept of an earlier time.

    Raises:
        HalfwiseError: float32 does not train for that long with one of the seeds.
    """
    file = _file(folder, steps)
    if file.exists():
        return read_json(LongFloat32, file)
    file.parent.mkdir(exist_ok=True)
    qualities: dict[int, float] = {}
    trained = 0
    for seed in range(evaluator.seed + 1, evaluator.seed + 1 + FRESH_SEEDS):
        place = file.parent / f"float32-{steps}-steps-seed-{seed}"
        outcome = longer(evaluator, seed, steps).evaluate(policy, None, place)
        if outcome.quality is None:
            what = f"float32 itself does not train for {steps} steps with seed {seed}"
            raise HalfwiseError(f"{what}: {outcome.cause}")
        trained += outcome.steps_run
        qualities[seed] = outcome.quality
    found = LongFloat32(steps=steps, qualities=qualities, steps_trained=trained)
    write_json(found, file)
    return found


def _file(folder: StudyFolder, steps: int) -> Path:
    return folder.path / "confirming" / f"float32-{steps}-steps.json"
