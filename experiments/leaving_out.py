"""`halfwise explain --leave-one-out`: which layers made quality drop, by training: what to train, the answer."""

import shlex
from collections.abc import Sequence

from ..evaluators.request import OPS_FILE
from ..policies.errors import InputError
from ..policies.rules import believe
from ..search.site_space import SiteGroup
from .evaluator_of import evaluator_of, look, price_row
from .explain import Answer, Subject
from .explain.leave_one_out import LeaveOneOut, Tried
from .explain.quality import losses_of
from .kept_experiment import kept_experiment
from .known_sites import known_sites
from .localize_sites import alike, blamed_by_place, low_sites
from .long_float32 import longer
from .paired import float32_outcome, noise_of
from .progress import Display
from .study_file import read_records, trained_before

QUESTION = "Which layers made it drop?"


def why_by_training(subject: Subject, most: int, display: Display) -> Answer:
    """Train the policy with each of its `most` likeliest culprits back in float32, then with several.

    Raises:
        InputError: nothing was lost, float32 was not trained, or the study does not hold its experiment.
        HalfwiseError: a training did not run to its end.
    """
    subject.folder.path.joinpath("explained").mkdir(exist_ok=True)
    with subject.folder.locked():
        leaving = _leaving(subject, display)
        sites = _by_suspicion(subject, low_sites(leaving.evaluator.survey, subject.record.folder / OPS_FILE))
        alone = leaving.alone(sites[:most], display)
        together = list(leaving.together(alone, display))
    return _answer(subject, leaving, len(sites), [*alone, *together])


def _leaving(subject: Subject, display: Display) -> LeaveOneOut:
    records, noise = read_records(subject.folder), noise_of(subject.folder)
    float32 = float32_outcome(records)
    if float32 is None or float32.quality is None:
        raise InputError(
            f"study {subject.info.name} has no quality of float32 to hold {subject.point.label} against"
        )
    allowed = max(subject.info.tolerance * abs(float32.quality), 0.0 if noise is None else noise.margin)
    lost = subject.point.quality_lost
    if subject.point.feasible and lost is not None and lost.mean <= allowed:
        raise InputError(
            f"{subject.point.label} lost {lost.mean:.2g} of {float32.metric}, and {allowed:.2g} may be lost: "
            "there is no loss whose layers could be looked for"
        )
    kept = kept_experiment(subject.folder)
    device, survey = look(kept.experiment, kept.search_path, display)
    row = price_row(kept.experiment, device)
    evaluator = evaluator_of(kept.experiment, kept.search_path, alike(survey), device, row)
    outcome = subject.record.outcome
    return LeaveOneOut(
        policy=subject.record.policy,
        evaluator=longer(evaluator, outcome.seed, max(evaluator.steps, outcome.steps)),
        float32=float32,
        earlier=trained_before(records),
        folder=subject.folder.path / "explained" / subject.record.folder.name,
        allowed=allowed,
    )


def _by_suspicion(subject: Subject, sites: Sequence[SiteGroup]) -> list[SiteGroup]:
    """What the failing run named itself comes first, then what the study believes to do most harm."""
    named = blamed_by_place(sites, subject.record.outcome.first_non_finite)
    harm = _harm(subject)

    def suspicion(site: SiteGroup) -> tuple[bool, tuple[float, float]]:
        keys = {key for path in site.paths for key in (path, f"{path}::{site.op}")}
        return site.name not in named, max((harm[key] for key in keys & set(harm)), default=(0.0, 0.0))

    # Stable: of equally suspected sites the first of the network stays first.
    return sorted(sites, key=lambda site: (suspicion(site)[0], *(-each for each in suspicion(site)[1])))


def _harm(subject: Subject) -> dict[str, tuple[float, float]]:
    """By layer, or layer::op: the chance to ruin training and the loss expected; empty where nothing is known."""
    if (losses := losses_of(subject)) is not None:
        groups = {group.name: group for group in known_sites(subject.folder).space.groups}
        return {
            path if groups[loss.site].op is None else f"{path}::{groups[loss.site].op}": (loss.ruin, loss.lost)
            for loss in losses
            if loss.site in groups
            for path in groups[loss.site].paths
        }
    if subject.sensitivity is None:
        return {}
    beliefs = [(g, believe(g, subject.record.policy.low_precision)) for g in subject.sensitivity.groups]
    return {
        covered.lstrip("."): (belief.probability, 0.0) for group, belief in beliefs for covered in group.covers
    }


def _answer(subject: Subject, leaving: LeaveOneOut, low: int, tried: Sequence[Tried]) -> Answer:
    metric, steps, seed = leaving.float32.metric, leaving.evaluator.steps, leaving.evaluator.seed
    alone = sum(len(each.back) == 1 for each in tried)
    found = next((each for each in tried if leaving.holds(each)), None)
    lines = [str(each) for each in tried]
    lines.append(
        f"at most {leaving.allowed:.2g} of {metric} may be lost; {alone} of {low} low sites were tried alone"
    )
    names = "" if found is None else ", ".join(site.name for site in found.back)
    short = (
        f"Of the lists that were trained the shortest that is enough is: {names}."
        if found is not None
        else "None of the lists that were trained is enough; --leave-one-out with a larger number tries more."
    )
    where = ("--workload", subject.info.workload)
    return Answer(
        QUESTION,
        short,
        tuple(lines),
        f"measured: one training each, of {steps} steps with the trial's seed {seed}; a loss below noise is none",
        () if found is None else (shlex.join(["halfwise", "confirm", str(found.policy_file), *where]),),
    )
