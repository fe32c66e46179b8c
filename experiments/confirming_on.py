"""`halfwise confirm`: what to train, on which device, and where what it comes to is kept."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evaluators.json_file import read_json, write_json
from ..policies.errors import HalfwiseError, InputError
from ..search.front import Point
from .advice import LEAST_TOLERANCE
from .conclusion import findings, speed_ratio
from .confirming import FRONT_CONFIRMED
from .device_confirmation import Candidate, Confirmer, DeviceConfirmation
from .evaluator_of import evaluator_of, look, price_row
from .experiment_file import Experiment
from .home import StudyFolder
from .inspect_policy import read_policy
from .kept_experiment import kept_experiment
from .long_float32 import confirmation_steps
from .progress import Display
from .records import StudySummary, TrialRecord
from .study_file import BASELINE, StudyFile, read_records


@dataclass(frozen=True)
class Wish:
    """What the command line asks for; None leaves it to the study or the workload."""

    device: str | None = None
    steps: int | None = None
    speed_budget_s: float | None = None

    def asked(self, experiment: Experiment) -> Experiment:
        """The experiment with what was asked for in place of its own."""
        changes: dict[str, Any] = {
            "device": self.device,
            "steps": self.steps,
            "speed_budget_s": self.speed_budget_s,
        }
        return experiment.model_copy(update={name: value for name, value in changes.items() if value is not None})


def confirm_policies(texts: Sequence[str], workload: str, wish: Wish, display: Display) -> DeviceConfirmation:
    """Confirm policies by their files, texts or level names; nothing is kept but what is returned.

    Raises:
        InputError: a policy or the workload is wrong, or the policies are for different modes.
        HalfwiseError: float32 does not train, or the device cannot be used.
    """
    candidates = [Candidate(text, read_policy(text)) for text in texts]
    modes = sorted({candidate.policy.mode for candidate in candidates})
    if len(modes) > 1:
        raise InputError(f"policies of one mode are confirmed at a time, but these are for {' and '.join(modes)}")
    experiment = wish.asked(Experiment(workload=workload, mode=candidates[0].policy.mode))
    device, survey = look(experiment, Path.cwd(), display)
    evaluator = evaluator_of(experiment, Path.cwd(), survey, device, None)
    steps = wish.steps or confirmation_steps(evaluator, ())
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        confirmer = Confirmer(evaluator, Path(folder), steps, LEAST_TOLERANCE, experiment.speed_budget_s)
        return confirmer.confirm(candidates, display)


def confirm_study(folder: StudyFolder, wish: Wish, display: Display) -> DeviceConfirmation:
    """Confirm the shortlist of a study, the chosen policy first; kept as `confirmed-DEVICE.json` in its folder.

    Raises:
        InputError: the study does not hold its experiment.
        HalfwiseError: it has no policy but float32, or as `confirm_policies`.
    """
    study, records = read_json(StudyFile, folder.study_file), read_records(folder)
    shortlist = _shortlist(findings(study.info, folder, records), records, study.info.priced_for)
    kept = kept_experiment(folder)
    experiment = wish.asked(kept.experiment)
    device, survey = look(experiment, kept.search_path, display)
    evaluator = evaluator_of(experiment, kept.search_path, survey, device, price_row(experiment, device))
    steps = wish.steps or confirmation_steps(evaluator, records)
    place = folder.path / "confirmed" / device.target
    confirmer = Confirmer(evaluator, place, steps, study.info.tolerance, experiment.speed_budget_s)
    with folder.locked():
        found = confirmer.confirm(shortlist, display)
        write_json(found, confirmed_file(folder, device.target))
    return found


def confirmed_file(folder: StudyFolder, device: str) -> Path:
    """What the study's shortlist came to on a device."""
    return folder.path / f"confirmed-{device}.json"


def _shortlist(found: StudySummary, records: Sequence[TrialRecord], priced_on: str | None) -> list[Candidate]:
    """The chosen policy and the fastest others of the front, float32 aside."""
    front = [point for point in found.front if point.name != BASELINE]
    chosen = [found.best] if found.best is not None and found.best.name != BASELINE else []
    points: list[Point] = [*chosen, *(point for point in front if point not in chosen)][:FRONT_CONFIRMED]
    if not points:
        raise HalfwiseError(f"there is nothing to confirm: {found.reason}")
    policies = {record.number: record.policy for record in records}
    return [
        Candidate(
            name=point.label,
            policy=policies[point.number],
            trial=point.number,
            priced_speedup=None if priced_on is None else speed_ratio(point, found.baseline),
            priced_on=priced_on,
        )
        for point in points
    ]
