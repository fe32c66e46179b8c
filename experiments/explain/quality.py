"""Why quality dropped: which layers are to blame, and the shortest list to keep in float32."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ...policies import LOW_PRECISIONS, Policy
from ...policies.errors import InputError
from ...policies.rules import believe
from ...search.noise import Noise
from ..known_sites import history_of, known_sites
from ..paired import noise_of
from ..study_file import BASELINE
from .answer import Answer
from .subject import Subject

QUESTION = "Did quality drop?"
_SHOWN = 8
# A smaller chance of harm is no suspect.
_SUSPECT = 0.05


@dataclass(frozen=True)
class Loss:
    """What a site is expected to lose by its low precision, in the metric's unit; its chance to ruin all."""

    site: str
    precision: str
    lost: float
    ruin: float


def why_quality(subject: Subject) -> Answer:
    """By the trial's difference to float32 beyond noise; layers by the study's beliefs, else by its rules."""
    blamed, rests = _blame(subject)
    return Answer(QUESTION, _short(subject, noise_of(subject.folder)), tuple(blamed), rests, _next(subject))


def shortest_list(losses: Sequence[Loss], allowed: float) -> tuple[Loss, ...]:
    """The fewest sites that, back in float32, leave no more than `allowed` to be lost: those that lose most.

    A site that is likelier to ruin training than not comes first, whatever it loses. Losses add up.
    """
    ruin = [loss for loss in losses if loss.ruin > 0.5]
    others = sorted((loss for loss in losses if loss.ruin <= 0.5), key=lambda loss: -loss.lost)
    left, kept = sum(max(loss.lost, 0.0) for loss in others), list(ruin)
    for loss in others:
        if left <= allowed:
            break
        kept.append(loss)
        left -= loss.lost
    return tuple(kept)


def _short(subject: Subject, noise: Noise | None) -> str:
    point, outcome = subject.point, subject.record.outcome
    if point.name == BASELINE:
        return "It is float32: others are held against it."
    if not point.feasible:
        place = f", first at {outcome.first_non_finite}" if outcome.first_non_finite else ""
        return f"It has no quality: {point.cause}{place}."
    lost = point.quality_lost
    if lost is None:
        return f"That is not known: float32 was not trained beside it ({outcome.metric} {outcome.quality:.5g})."
    if lost.low is not None and lost.low > 0:
        return f"Yes, beyond noise: it lost {lost} of {outcome.metric}."
    margin = "" if noise is None else f", and less than {noise.margin:.2g} is noise here"
    return f"No loss that noise does not explain: it lost {lost} of {outcome.metric}{margin}."


def _blame(subject: Subject) -> tuple[list[str], str]:
    losses = losses_of(subject)
    if losses is not None:
        known = known_sites(subject.folder)
        kept = shortest_list(losses, known.max_quality_lost)
        lines = [
            f"{loss.site} in {loss.precision}: expected to lose {max(loss.lost, 0.0):.2g}"
            + (f", chance to ruin training {loss.ruin:.0%}" if loss.ruin >= _SUSPECT else "")
            for loss in sorted(losses, key=lambda each: (-each.ruin, -each.lost))[:_SHOWN]
        ]
        names = ", ".join(loss.site for loss in kept) or "nothing"
        lines.append(f"shortest list to keep in float32 for at most {known.max_quality_lost:.2g} lost: {names}")
        return lines, "predicted, not trained: the beliefs of the search over all its trials (losses add up)"
    if subject.sensitivity is not None:
        return _by_rules(subject, subject.record.policy), "predicted by rules over one float32 run, not trained"
    return [], "the trial alone: this study looked at no sensitivities, and is no search over sites"


def losses_of(subject: Subject) -> list[Loss] | None:
    """Of each site that is low in the trial; None where the study has no beliefs of it."""
    try:
        known = known_sites(subject.folder)
    except InputError:
        return None
    tried = history_of(subject.folder, known)
    if subject.record.number not in tried:
        return None
    choices, beliefs = tried[subject.record.number].choices, known.beliefs(tried.values())
    return [
        Loss(
            known.costs.sites[site].name,
            known.costs.sites[site].choices[choice],
            float(beliefs.weights[column]),
            float(beliefs.hazards.chance[column]),
        )
        for column, (site, choice) in enumerate(beliefs.features.columns)
        if choices[site] == choice
    ]


def _by_rules(subject: Subject, policy: Policy) -> list[str]:
    assert subject.sensitivity is not None
    low = _low(subject.table)
    groups = [
        group for group in subject.sensitivity.groups if low is None or any(_is_low(c, low) for c in group.covers)
    ]
    beliefs = [believe(group, policy.low_precision) for group in groups]
    suspects = sorted((b for b in beliefs if b.probability >= _SUSPECT), key=lambda b: -b.probability)
    return [
        f"{belief.group or 'the network itself'}: chance of harm {belief.probability:.2f}, {belief.reason}"
        for belief in suspects[:_SHOWN]
    ] or ["no layer that is low shows a sign of harm"]


def _low(table: pd.DataFrame | None) -> set[tuple[str, str]] | None:
    """The layers and ops whose forward pass computes in half precision; None where that is not known."""
    if table is None:
        return None
    own = table[(table["direction"] == "forward") & table["compute_precision"].isin(LOW_PRECISIONS)]
    return set(zip(own["layer"], own["op"], strict=True))


def _is_low(covered: str, low: set[tuple[str, str]]) -> bool:
    """Whether something is low of what a rule's left side names: a layer, or one op of it."""
    path, _, op = covered.partition("::")
    return any((path in (layer, "." if layer == "" else layer)) and op in ("", name) for layer, name in low)


def _next(subject: Subject) -> tuple[str, ...]:
    lost = subject.point.quality_lost
    if subject.point.feasible and (lost is None or lost.low is None or lost.low <= 0):
        return ()
    where = ["--workload", subject.info.workload, "--policy", str(subject.policy_file)]
    return (shlex.join(["halfwise", "localize", *where]),)
