"""Tries policies: one process for a trial, another one to name the place where a trial went non-finite."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..policies.policy import Policy
from .device_facts import DeviceFacts
from .memory_bound import MemoryBound
from .outcome import Metric, Outcome, Place
from .price.devices import Device
from .process import Failure, Limits, run_job
from .request import SAME_TRAINING, STATE_FILE, DiagnosisRequest, TrialRequest
from .speed.comparison import Comparison
from .speed.measure import measure_speed
from .speed.twin_request import SpeedRequest
from .survey_result import SURVEY_JOB, Survey, SurveyRequest

TRIAL_JOB = "halfwise.evaluators.trial:run_trial"
DIAGNOSIS_JOB = "halfwise.evaluators.diagnosis:run_diagnosis"


@dataclass(frozen=True)
class Evaluator:
    """What all trials of a study have in common.

    `price_for` is the device that their steps are priced on, `memory_bound` what a policy may need at most.
    """

    workload: str
    search_path: Path
    survey: Survey
    device: DeviceFacts
    seed: int
    steps: int
    limits: Limits
    price_for: Device | None = None
    memory_bound: MemoryBound | None = None

    def evaluate(
        self, policy: Policy, name: str | None, folder: Path, trained: Mapping[str, Outcome] | None = None
    ) -> Outcome:
        """Train the policy in a process of its own; whatever happens there becomes the outcome.

        `folder` keeps the process's output and the op table, and nothing of the values that a diagnosis wrote.
        `trained` holds the outcomes of earlier trials by their training key: where the compiled step turns out to
        be one of them, that outcome is given for this policy too.
        """
        request = TrialRequest(
            **self._job(policy, folder),
            policy_name=name,
            steps=self.steps,
            notes=self.device.notes(self.survey.convolves),
            trained=frozenset(trained or {}),
            price_for=self.price_for,
            memory_bound=self.memory_bound,
        )
        found = run_job(TRIAL_JOB, request, Outcome, self.limits)
        if isinstance(found, Failure):
            return self._failed(request, found)
        if found.cause == SAME_TRAINING and found.evidence and trained:
            return found.with_figures_of(trained[found.evidence.training_key(policy)])
        return self._diagnosed(policy, folder, found)

    def compare(self, policy: Policy, folder: Path, budget_s: float, rounds: int) -> Comparison | Failure:
        """Measure the policy's speed against a float32 twin: in each round two fresh processes train in turn.

        `folder` keeps the output of the last round; all compile first, which `budget_s` does not count.
        """
        request = SpeedRequest(**self._job(policy, folder), budget_s=budget_s, rounds=rounds)
        return measure_speed(request, self.limits)

    def _job(self, policy: Policy, folder: Path) -> dict[str, Any]:
        """What every job on a policy is told: the workload, the device, the policy and the seed."""
        return {
            "workload": self.workload,
            "search_path": self.search_path,
            "folder": folder,
            "target": self.device.target,
            "environment": self.device.environment(self.survey.convolves),
            "policy": str(policy),
            "seed": self.seed,
        }

    def _failed(self, request: TrialRequest, failure: Failure) -> Outcome:
        metric = Metric(self.survey.metric, self.survey.direction)
        known = request.identity(metric, self.survey.mindspore_version)
        return Outcome(**known, status="failed", cause=failure.cause, message=failure.message)

    def _diagnosed(self, policy: Policy, folder: Path, outcome: Outcome) -> Outcome:
        """The outcome with layer and op of its first non-finite value, if it has one and they can be found."""
        if outcome.first_non_finite is None:
            return outcome
        request = DiagnosisRequest(
            **self._job(policy, folder / "diagnosis"),
            state=folder / STATE_FILE,
            step=len(outcome.losses) - 1,
            loss_scale=outcome.loss_scales[-1],
            place=outcome.first_non_finite,
        )
        place = run_job(DIAGNOSIS_JOB, request, Place, self.limits)
        request.state.unlink(missing_ok=True)
        if isinstance(place, Failure):
            note = f"the place was not found: {place.cause}: {place.message}"
            return outcome.model_copy(update={"notes": (*outcome.notes, note)})
        return outcome.model_copy(update={"first_non_finite": place})


def survey_workload(request: SurveyRequest, limits: Limits) -> Survey:
    """Look at a workload in a process of its own.

    Raises:
        InputError: the workload cannot be loaded, or is wrong.
        HalfwiseError: it could not be built or compiled; the process's own words are quoted.
    """
    survey = run_job(SURVEY_JOB, request, Survey, limits)
    if isinstance(survey, Failure):
        raise survey.as_error()
    return survey
