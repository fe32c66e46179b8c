"""Trains the policies of a table's network as the trials of a search do; diagnoses those that go non-finite."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from halfwise.evaluators.evaluator import DIAGNOSIS_JOB, survey_workload
from halfwise.evaluators.outcome import Outcome, Place
from halfwise.evaluators.process import Failure, Limits, run_job
from halfwise.evaluators.request import STATE_FILE, DiagnosisRequest, TrialRequest
from halfwise.evaluators.sensitivity.measure import measure_sensitivity
from halfwise.evaluators.sensitivity.result import GroupPaths, Sensitivity, SensitivityRequest
from halfwise.evaluators.survey_result import Survey, SurveyRequest
from halfwise.experiments.inspect_policy import float32_table
from halfwise.experiments.lessons import blamed_sites
from halfwise.experiments.site_costs import expand, price_of
from halfwise.policies import DynamicLossScaling
from halfwise.policies.errors import HalfwiseError
from halfwise.search.propose.cost_model import Choices
from halfwise.search.site_space import SiteGroup, SiteSpace

from ..zoo.prices import zoo_device
from .catalogue import ROOT, Entry
from .runs import Network, Run
from .shift_request import SHIFT_JOB, Outcomes, ShiftRequest

# A busy machine is slow; a shift of these networks takes less than a minute on an idle core.
_LIMITS = Limits(time_s=1200, memory_bytes=8 << 30)
_SEED = 0


@dataclass(frozen=True)
class Trainer:
    """A network's sites, each layer one that may be float32 or float16, and who trains its policies."""

    entry: Entry
    survey: Survey

    @cached_property
    def space(self) -> SiteSpace:
        """Every layer that computes floats, as a whole."""
        groups = (
            SiteGroup(cell.path, (cell.path,), None, cell.ops, ("float32", "float16"))
            for cell in self.survey.cells
            if cell.has_choice
        )
        return SiteSpace(tuple(groups), "float16", DynamicLossScaling(), "graph")

    def network(self) -> Network:
        """What all policies have in common: prices, and chances of harm from one float32 run.

        Raises:
            HalfwiseError: float32 does not train.
        """
        sensitivity = self._sensitivity()
        table = float32_table(self.entry.workload, ROOT, self.space.loss_scaling)
        price = price_of(self.space, self.survey.outline, table, zoo_device(), self.survey.batch_size)
        chances = sensitivity.chances(("float16",))
        return Network(
            name=self.entry.name,
            workload=self.entry.workload,
            steps=self.survey.trial_steps,
            mindspore_version=self.survey.mindspore_version,
            costs=expand(self.space, *price),
            chances={name: chance for (name, _), chance in chances.items()},
            sensitivity_trials=sensitivity.steps_run / self.survey.trial_steps,
        )

    def train(self, wanted: Sequence[tuple[Choices, int]]) -> tuple[Run, ...]:
        """Train policies, each with its seed, for a trial's length; those that went non-finite are diagnosed.

        Raises:
            HalfwiseError: a trial did not run to its end, so that nothing is known of its policy.
        """
        with tempfile.TemporaryDirectory(prefix="halfwise-table-") as folder:
            trials = [self._trial(*each, Path(folder) / str(place)) for place, each in enumerate(wanted)]
            request = ShiftRequest(folder=Path(folder), target="CPU", trials=tuple(trials))
            found = run_job(SHIFT_JOB, request, Outcomes, _LIMITS)
            if isinstance(found, Failure):
                raise found.as_error()
            ended = zip(wanted, trials, found.outcomes, strict=True)
            return tuple(self._run(choices, trial, outcome) for (choices, _), trial, outcome in ended)

    def _run(self, choices: Choices, trial: TrialRequest, outcome: Outcome) -> Run:
        if outcome.status == "failed" or outcome.priced is None:
            raise HalfwiseError(f"{self.entry.name} {choices}: {outcome.cause}: {outcome.message}")
        place = _diagnose(trial, outcome)
        low = {group.name for group, choice in zip(self.space.groups, choices, strict=True) if choice}
        blamed = blamed_sites(self.space, place, low)
        return Run(
            choices=choices,
            seed=trial.seed,
            step_time_s=outcome.priced.step_time_s,
            quality=outcome.quality,
            cause=outcome.cause,
            blamed=frozenset(site for site, group in enumerate(self.space.groups) if group.name in blamed),
            diagnosis_steps=0 if place is None else 1,
        )

    def _trial(self, choices: Choices, seed: int, folder: Path) -> TrialRequest:
        groups = zip(self.space.groups, choices, strict=True)
        policy = self.space.policy({group.name: group.choices[choice] for group, choice in groups})
        return TrialRequest(
            workload=self.entry.workload,
            search_path=ROOT,
            folder=folder,
            target="CPU",
            policy=str(policy),
            seed=seed,
            steps=self.survey.trial_steps,
            price_for=zoo_device(),
        )

    def _sensitivity(self) -> Sensitivity:
        with tempfile.TemporaryDirectory(prefix="halfwise-table-") as folder:
            request = SensitivityRequest(
                workload=self.entry.workload,
                search_path=ROOT,
                target="CPU",
                folder=Path(folder),
                seed=_SEED,
                steps=self.survey.trial_steps,
                groups=tuple(GroupPaths(name=group.name, paths=group.paths) for group in self.space.groups),
                precisions=("float16",),
                loss_scaling=self.space.loss_scaling,
            )
            return measure_sensitivity(request, _LIMITS)


def make_trainer(entry: Entry) -> Trainer:
    """Look at the network in a process of its own.

    Raises:
        HalfwiseError: it could not be built or compiled.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-table-") as folder:
        request = SurveyRequest(workload=entry.workload, search_path=ROOT, folder=Path(folder), target="CPU")
        return Trainer(entry, survey_workload(request, _LIMITS))


def _diagnose(trial: TrialRequest, outcome: Outcome) -> Place | None:
    """Where the trial went non-finite, found out in a process of its own; None if it did not.

    Raises:
        HalfwiseError: the process did not get to its end.
    """
    if outcome.first_non_finite is None:
        return None
    request = DiagnosisRequest(
        workload=trial.workload,
        search_path=trial.search_path,
        folder=trial.folder / "diagnosis",
        target=trial.target,
        policy=trial.policy,
        seed=trial.seed,
        state=trial.folder / STATE_FILE,
        step=len(outcome.losses) - 1,
        loss_scale=outcome.loss_scales[-1],
        place=outcome.first_non_finite,
    )
    place = run_job(DIAGNOSIS_JOB, request, Place, _LIMITS)
    if isinstance(place, Failure):
        raise place.as_error()
    return place
