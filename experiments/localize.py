"""Finds where a policy leaves float32 and the least that must return to it; read it from `localize` downwards."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.device_facts import learn_device
from ..evaluators.evaluator import Evaluator, survey_workload
from ..evaluators.localize.against_float32 import STEPS_COMPARED
from ..evaluators.localize.compare import Compared, Departure
from ..evaluators.outcome import Outcome
from ..evaluators.process import Failure, Limits
from ..evaluators.request import OPS_FILE
from ..evaluators.survey_result import SurveyRequest
from ..policies import DynamicLossScaling, Policy
from ..policies.errors import HalfwiseError
from ..search.propose.cure import Verdict, find_cure
from ..search.site_space import SiteGroup
from .confirmation import quality_lost
from .localize_policy import returned_to_float32
from .localize_sites import alike, blamed_by, blamed_by_place, departure_at, low_sites
from .space_of import refuse_policy
from .workloads import resolve_reference

_LIMITS = Limits(time_s=3600, memory_bytes=16 << 30)
TOLERANCE = 0.02
"""The share of float32's quality from which on a loss is one; with one seed less cannot be told from noise."""


@dataclass(frozen=True)
class Cure:
    """The sites that return to float32, the policy with them (and its reasons), and what that came to.

    No sites: another loss scaling is the cure.
    """

    sites: tuple[SiteGroup, ...]
    policy: Policy
    outcome: Outcome


@dataclass(frozen=True)
class Localized:
    """What became of a policy, where it leaves float32 first, and what cures it.

    `step` is the one that was compared with float32; `compared` is None, with a note, where that was not possible.
    `first` is the op to blame. `probes` are the trainings that looked for the cure, `steps_spent` their steps and
    those of comparisons, `trial_steps` a trial's.
    """

    policy: Policy
    outcome: Outcome
    float32: Outcome
    works: bool
    step: int
    compared: Compared | None
    first: Departure | None
    cure: Cure | None
    probes: int
    steps_spent: int
    trial_steps: int
    notes: tuple[str, ...]


def localize(
    workload: str, policy: Policy, steps: int | None = None, seed: int = 1, tolerance: float = TOLERANCE
) -> Localized:
    """Train the policy and float32 for `steps` steps (a trial's length if None), compare, and look for a cure.

    Raises:
        InputError: the workload or the policy is wrong, or graph mode cannot compile the network.
        HalfwiseError: float32 itself does not train, or a process did not get to its end.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        evaluator = _evaluator(workload, policy, steps, seed, Path(scratch))
        return _Localizing(evaluator, policy, tolerance, Path(scratch)).run()


def _evaluator(workload: str, policy: Policy, steps: int | None, seed: int, scratch: Path) -> Evaluator:
    reference = resolve_reference(workload)
    device = learn_device("auto", scratch)
    asked = SurveyRequest(
        workload=reference, search_path=Path.cwd(), target=device.target, folder=scratch / "survey"
    )
    survey = survey_workload(asked, _LIMITS)
    refuse_policy(policy, "to localize", survey, device)
    return Evaluator(
        workload=reference,
        search_path=Path.cwd(),
        survey=survey,
        device=device,
        seed=seed,
        steps=steps or survey.trial_steps,
        limits=_LIMITS,
    )


class _Localizing:
    """One run: what was trained so far, and what it cost."""

    def __init__(self, evaluator: Evaluator, policy: Policy, tolerance: float, scratch: Path) -> None:
        self._evaluator = evaluator
        self._policy = policy
        self._tolerance = tolerance
        self._scratch = scratch
        self._survey = alike(evaluator.survey)
        self._folders = 0
        self._cured: dict[tuple[str, ...], Cure] = {}
        self._probes = 0
        self._steps_spent = 0
        self._notes: list[str] = []

    def run(self) -> Localized:
        float32 = Policy(default="float32", loss_scaling=self._policy.loss_scaling, mode=self._policy.mode)
        self._float32, _ = self._trained(float32)
        if self._float32.quality is None:
            raise HalfwiseError(
                f"float32 does not train ({self._float32.cause}), so there is nothing to compare the policy with"
            )
        outcome, folder = self._trained(self._policy)
        works = self._works(outcome)
        self._sites = low_sites(self._survey, folder / OPS_FILE)
        step, compared = self._compared(self._policy, outcome, again=not works)
        first = None if compared is None else departure_at(compared, outcome.first_non_finite)
        cure = None if works else self._cure(outcome, first)
        return Localized(
            policy=self._policy,
            outcome=outcome,
            float32=self._float32,
            works=works,
            step=step,
            compared=compared,
            first=first,
            cure=cure,
            probes=self._probes,
            steps_spent=self._steps_spent,
            trial_steps=self._evaluator.steps,
            notes=tuple(self._notes),
        )

    def _trained(self, policy: Policy) -> tuple[Outcome, Path]:
        """What a training of a trial's length came to, and its folder.

        Raises:
            HalfwiseError: it did not run, or MindSpore did not compile it.
        """
        folder = self._folder()
        outcome = self._evaluator.evaluate(policy, None, folder)
        if outcome.evidence is None or outcome.status == "failed":
            raise HalfwiseError(f"policy {policy}: {outcome.cause}: {outcome.message}")
        return outcome, folder

    def _folder(self) -> Path:
        self._folders += 1
        return self._scratch / str(self._folders)

    def _works(self, outcome: Outcome) -> bool:
        float32 = self._float32.quality or 0.0
        lost = quality_lost(outcome.quality, float32, outcome.direction)
        return outcome.status == "trained" and lost is not None and lost <= self._tolerance * abs(float32)

    def _compared(self, policy: Policy, outcome: Outcome, again: bool) -> tuple[int, Compared | None]:
        """The step and its comparison: that which went wrong, else the first; with `again`, then the last."""
        last = len(outcome.losses) - 1
        step = last if outcome.first_non_finite else 0
        found = self._against(policy, outcome, step)
        if again and step < last and found is not None and not found.departures:
            step, found = last, self._against(policy, outcome, last)
        return step, found

    def _against(self, policy: Policy, outcome: Outcome, step: int) -> Compared | None:
        folder = self._folder()
        weights = self._evaluator.weights_at(policy, folder, step) if step else None
        found = (
            weights
            if isinstance(weights, Failure)
            else self._evaluator.against_float32(policy, folder, step, outcome.loss_scales[-1], weights)
        )
        self._steps_spent += step + STEPS_COMPARED
        if isinstance(found, Failure):
            self._notes.append(f"no comparison with float32: {found.cause}: {found.message}")
            return None
        return found

    def _cure(self, outcome: Outcome, first: Departure | None) -> Cure | None:
        """The smallest one that was found; None, with a note, where float32 everywhere is none."""
        place = outcome.first_non_finite
        if self._policy.loss_scaling.kind != "dynamic" and (place is None or place.direction != "forward"):
            scaled = self._probe((), self._policy.replace(loss_scaling=DynamicLossScaling()))
            if scaled.cured:
                return self._cured[()]
        blamed = blamed_by(self._sites, first) or blamed_by_place(self._sites, place)
        names = tuple(site.name for site in self._sites)
        found = find_cure(names, self._test, blamed) if names else None
        if found is None:
            self._notes.append(
                "with all that is low in float32 it does not train either: the precision of no layer is at fault, "
                "but what else the policy asks, such as its loss scaling"
            )
            return None
        return self._cured[found]

    def _test(self, chosen: tuple[str, ...]) -> Verdict:
        sites = [site for site in self._sites if site.name in chosen]
        return self._probe(chosen, returned_to_float32(self._policy, sites, self._survey))

    def _probe(self, chosen: tuple[str, ...], policy: Policy) -> Verdict:
        outcome, _ = self._trained(policy)
        self._probes += 1
        self._steps_spent += len(outcome.losses)
        if self._works(outcome):
            sites = tuple(site for site in self._sites if site.name in chosen)
            self._cured[chosen] = Cure(sites, policy, outcome)
            return Verdict(cured=True)
        return Verdict(cured=False, blamed=self._blamed(policy, outcome))

    def _blamed(self, policy: Policy, outcome: Outcome) -> tuple[str, ...]:
        """What a run that is not cured yet blames: the op of its diagnosis, else the first to leave float32."""
        named = blamed_by_place(self._sites, outcome.first_non_finite)
        if named:
            return named
        _, compared = self._compared(policy, outcome, again=False)
        return () if compared is None else blamed_by(self._sites, next(iter(compared.departures), None))
