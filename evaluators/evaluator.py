"""Tries policies: one process for a trial, another one to name the place where a trial went non-finite."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..policies.policy import Policy
from .device_facts import DeviceFacts
from .float32 import is_float32
from .localize.against_float32 import STEPS_COMPARED, against_float32
from .localize.compare import Compared
from .localize.values import REACH_JOB, Reached, ReachRequest, StepRequest
from .memory_bound import MemoryBound
from .outcome import Metric, Outcome, Place
from .price.devices import Device
from .process import Failure, Limits, run_job
from .quiet import NoQuiet, Quiet
from .request import END_FILE, NEVER_MOVED, SAME_TRAINING, STATE_FILE, DiagnosisRequest, TrialRequest
from .speed.comparison import Comparison
from .speed.measure import measure_speed
from .speed.twin_request import SpeedRequest
from .spending import NotCounted, Spending
from .survey_result import SURVEY_JOB, Survey, SurveyRequest

TRIAL_JOB = "halfwise.evaluators.trial:run_trial"
DIAGNOSIS_JOB = "halfwise.evaluators.diagnosis:run_diagnosis"


@dataclass(frozen=True)
class Evaluator:
    """What all trials of a study have in common.

    `price_for` is the device that their steps are priced on, `memory_bound` what a policy may need at most.
    `float32_losses` are the curves near which a trial's loss must stay, none: anywhere. `keep_state`: a trial that
    trained can go on later. `spending` is told of every step that is trained, `quiet` is asked before
    anything is trained or measured.
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
    float32_losses: tuple[tuple[float, ...], ...] = ()
    keep_state: bool = False
    spending: Spending = field(default_factory=NotCounted)
    quiet: Quiet = field(default_factory=NoQuiet)

    def evaluate(
        self, policy: Policy, name: str | None, folder: Path, trained: Mapping[str, Outcome] | None = None
    ) -> Outcome:
        """Train the policy in a process of its own; whatever happens there becomes the outcome.

        `folder` keeps the process's output and the op table, and nothing of the values that a diagnosis wrote.
        `trained` holds the outcomes of earlier trials by their training key: where the compiled step turns out to
        be one of them, that outcome is given for this policy too.

        Raises:
            HalfwiseError: the disk is full or the folder gone, which says nothing of the policy.
        """
        request = self._trial(policy, name, folder, trained=frozenset(trained or {}))
        found = self._train(request)
        if isinstance(found, Failure):
            return self._failed(request, found)
        if found.cause == SAME_TRAINING and found.evidence and trained:
            return found.with_figures_of(trained[found.evidence.training_key(policy)])
        return self._ended(policy, folder, found)

    def go_on(self, policy: Policy, folder: Path, earlier: Outcome) -> Outcome:
        """Train a policy on, to this evaluator's steps in all, from where `earlier` left it in the folder.

        What comes out is equal, bit for bit, to one training of that length. Where the saved state is gone it is
        such a training, from the first step on.

        Raises:
            HalfwiseError: as for `evaluate`.
        """
        saved = (folder / END_FILE).exists()
        request = self._trial(policy, earlier.policy_name, folder, goes_on_from=earlier if saved else None)
        found = self._train(request)
        if isinstance(found, Failure):
            return self._failed(request, found)
        return self._ended(policy, folder, found).going_on_from(earlier)

    def _train(self, request: TrialRequest) -> Outcome | Failure:
        with self.quiet.training():
            return run_job(TRIAL_JOB, request, Outcome, self.limits)

    def _trial(self, policy: Policy, name: str | None, folder: Path, **more: Any) -> TrialRequest:
        return TrialRequest(
            **self._job(policy, folder),
            policy_name=name,
            steps=self.steps,
            notes=self.device.notes(self.survey.convolves),
            price_for=self.price_for,
            memory_bound=self.memory_bound,
            float32_losses=self.float32_losses,
            keep_state=self.keep_state,
            **more,
        )

    def _ended(self, policy: Policy, folder: Path, found: Outcome) -> Outcome:
        """The outcome with its diagnosis, if it needs one; its steps are counted."""
        if found.status != "trained" or not self.keep_state:
            (folder / END_FILE).unlink(missing_ok=True)
        outcome = self._diagnosed(policy, folder, found)
        self.spending.add(outcome.steps_run)
        return outcome

    def compare(self, policy: Policy, folder: Path, budget_s: float, rounds: int) -> Comparison | Failure:
        """Measure the policy's speed against a float32 twin: in each round two fresh processes train in turn.

        `folder` keeps the output of the last round; all compile first, which `budget_s` does not count.
        """
        request = SpeedRequest(**self._job(policy, folder), budget_s=budget_s, rounds=rounds)
        with self.quiet.measuring():
            return measure_speed(request, self.limits)

    def against_float32(
        self, policy: Policy, folder: Path, step: int, loss_scale: float, state: Path | None = None
    ) -> Compared | Failure:
        """Compare one training step under the policy with float32's, op by op; costs `STEPS_COMPARED` steps.

        `step` is the number of the batch, `state` a checkpoint of the weights, fresh ones from the seed if None.
        """
        request = StepRequest(**self._job(policy, folder), step=step, loss_scale=loss_scale, state=state)
        return against_float32(request, self.limits)

    def weights_at(self, policy: Policy, folder: Path, steps: int) -> Path | Failure:
        """A checkpoint of the weights that a policy has after some steps; they are trained for it."""
        request = ReachRequest(**self._job(policy, folder), steps=steps, state=folder / STATE_FILE)
        found = run_job(REACH_JOB, request, Reached, self.limits)
        return found if isinstance(found, Failure) else request.state

    def _job(self, policy: Policy, folder: Path) -> dict[str, Any]:
        """What every job on a policy is told: the workload, the device, the policy and the seed."""
        return {
            "workload": self.workload,
            "search_path": self.search_path,
            "folder": folder,
            "target": self.device.target,
            "device_id": self.device.device_id,
            "environment": self.device.environment(self.survey.convolves),
            "policy": str(policy),
            "seed": self.seed,
        }

    def _failed(self, request: TrialRequest, failure: Failure) -> Outcome:
        if failure.is_of_the_disk:
            raise failure.as_error()
        metric = Metric(self.survey.metric, self.survey.direction)
        known = request.identity(metric, self.survey.mindspore_version)
        return Outcome(**known, status="failed", cause=failure.cause, message=failure.message)

    def _diagnosed(self, policy: Policy, folder: Path, outcome: Outcome) -> Outcome:
        """The outcome with layer and op of its first non-finite value, if it has one and they can be found."""
        if outcome.first_non_finite is None:
            return self._held_against_float32(policy, folder, outcome) if outcome.cause == NEVER_MOVED else outcome
        request = DiagnosisRequest(
            **self._job(policy, folder / "diagnosis"),
            state=folder / STATE_FILE,
            step=len(outcome.losses) - 1,
            loss_scale=outcome.loss_scales[-1],
            place=outcome.first_non_finite,
        )
        try:
            place = run_job(DIAGNOSIS_JOB, request, Place, self.limits)
            outcome = outcome.model_copy(update={"steps_run": outcome.steps_run + 1})
            if isinstance(place, Failure):
                return _noted(outcome, f"the place was not found: {place.cause}: {place.message}")
            outcome = outcome.model_copy(update={"first_non_finite": place})
            return outcome if place.direction else self._held_against_float32(policy, folder, outcome)
        finally:
            request.state.unlink(missing_ok=True)

    def _held_against_float32(self, policy: Policy, folder: Path, outcome: Outcome) -> Outcome:
        """The outcome with the first op that leaves float32: at the step that went wrong, else at the first."""
        if is_float32(policy):
            return outcome
        state = folder / STATE_FILE
        step = len(outcome.losses) - 1 if outcome.first_non_finite else 0
        found = self.against_float32(
            policy, folder / "against-float32", step, outcome.loss_scales[-1], state if step else None
        )
        outcome = outcome.model_copy(update={"steps_run": outcome.steps_run + STEPS_COMPARED})
        if isinstance(found, Failure):
            return _noted(outcome, f"not compared with float32: {found.cause}: {found.message}")
        if not found.departures:
            return outcome
        place = found.departures[0].place(step)
        return _noted(
            outcome.model_copy(update={"left_float32": place}), f"the first op to leave float32: {place}"
        )


def _noted(outcome: Outcome, note: str) -> Outcome:
    return outcome.model_copy(update={"notes": (*outcome.notes, note)})


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
