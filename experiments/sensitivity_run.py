"""Finds out how sensitive a workload's layers are: device, survey, groups, then one process for the rest."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts, learn_device
from ..evaluators.evaluator import survey_workload
from ..evaluators.process import Limits
from ..evaluators.sensitivity.measure import measure_sensitivity
from ..evaluators.sensitivity.result import GroupPaths, Sensitivity, SensitivityRequest
from ..evaluators.survey_result import Survey, SurveyRequest
from .space_of import layer_groups
from .workloads import resolve_reference

_LIMITS = Limits(time_s=3600, memory_bytes=16 << 30)


@dataclass(frozen=True)
class Looked:
    """A workload's network, and what a float32 run of it tells."""

    survey: Survey
    found: Sensitivity


def sensitivity_of(workload: str, steps: int | None = None, seed: int = 1) -> Sensitivity:
    """What `look_and_measure` finds, alone.

    Raises:
        InputError, HalfwiseError: as there.
    """
    return look_and_measure(workload, steps, seed).found


def look_and_measure(workload: str, steps: int | None = None, seed: int = 1) -> Looked:
    """A float32 run of `steps` steps (a trial's length if None) and one step with each group alone low.

    The groups are those that a search would choose for: every layer that computes floats, repeated blocks tied
    where there are many.

    Raises:
        InputError: the workload is wrong, or MindSpore cannot compile it.
        HalfwiseError: float32 itself is not finite, or a process did not get to its end.
    """
    reference = resolve_reference(workload)
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        device = learn_device("auto", Path(scratch))
        asked = SurveyRequest(
            workload=reference,
            search_path=Path.cwd(),
            target=device.target,
            folder=Path(scratch) / "survey",
        )
        survey = survey_workload(asked, _LIMITS)
        request = SensitivityRequest(
            workload=reference,
            search_path=Path.cwd(),
            target=device.target,
            folder=Path(scratch) / "sensitivity",
            environment=device.environment(survey.convolves),
            seed=seed,
            steps=steps or survey.trial_steps,
            groups=groups_of(survey),
            precisions=device.low_precisions,
        )
        return Looked(survey, _with_missing(measure_sensitivity(request, _LIMITS), device))


def groups_of(survey: Survey) -> tuple[GroupPaths, ...]:
    """Every layer that computes floats, repeated blocks tied where a search would tie them by itself."""
    return tuple(GroupPaths(name=group.name, paths=group.paths) for group in layer_groups(survey))


def _with_missing(found: Sensitivity, device: DeviceFacts) -> Sensitivity:
    """The result, with a note for each precision that could not be tried alone here."""
    notes = tuple(
        f"{precision} was not tried alone, {device.target} does not compute it: judged by float32 values only"
        for precision in device.missing
    )
    return found.model_copy(update={"notes": (*found.notes, *notes)})
