"""What `halfwise localize` found, in words for the terminal and as plain data."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..evaluators.localize.compare import Departure
from ..policies import FORMATS, Policy
from .localize import Cure, Localized


def localized_lines(found: Localized) -> Iterator[str]:
    """What became of the policy, where it left float32 first, the cure, and what that cost."""
    outcome = found.outcome
    yield f"under this policy on {outcome.device}, seed {outcome.seed}: {_came_to(found)}"
    yield from _where(found)
    yield from _cured(found)
    yield from _cost(found)
    yield from (f"note: {note}" for note in found.notes)


def departure_words(departure: Departure) -> str:
    """Such as "float16: 1,460 units in the last place from float32, 14.6 are explained; largest value 15"."""
    limit = FORMATS[departure.precision].max
    words = [f"{departure.precision} as asked"]
    if departure.finite:
        words.append(
            f"{departure.ulps:,.0f} units in the last place from float32, its precision and its inputs explain "
            f"{departure.allowed_ulps:,.0f}"
        )
    else:
        words.append("not finite where float32 is")
    words.append(f"largest value in float32 {departure.largest:.3g}, {_headroom(departure)} {limit:,.5g}")
    if departure.lost > 0.01:
        words.append(f"{departure.lost:.0%} of its values became 0")
    return "; ".join(words)


def with_reasons(found: Localized, cure: Cure) -> Policy:
    """The cured policy, saying of each new rule what failed without it."""
    failed = _failed(found)
    new = [pattern for pattern in cure.policy.layers if pattern not in found.policy.layers]
    reasons = {pattern: failed for pattern in new if cure.policy.layers[pattern] == "float32"}
    return cure.policy.replace(reasons={**found.policy.reasons, **reasons})


def as_data(found: Localized) -> Mapping[str, Any]:
    """Every figure, for `--format json`."""
    compared = found.compared
    return {
        "policy": str(found.policy),
        "works": found.works,
        "outcome": found.outcome.model_dump(mode="json"),
        "float32": found.float32.model_dump(mode="json"),
        "step": found.step,
        "ops_compared": None if compared is None else compared.compared,
        "ops_without_twin": None if compared is None else compared.without_twin,
        "first": None if found.first is None else _figures(found.first),
        "departures": [] if compared is None else [_figures(each) for each in compared.departures],
        "cure": None
        if found.cure is None
        else {
            "sites": [site.name for site in found.cure.sites],
            "policy": str(with_reasons(found, found.cure)),
            "quality": found.cure.outcome.quality,
        },
        "probes": found.probes,
        "steps_spent": found.steps_spent,
        "trial_steps": found.trial_steps,
        "notes": list(found.notes),
    }


def _figures(departure: Departure) -> dict[str, Any]:
    figures = departure.model_dump(mode="json")
    return {**figures, "ulps": departure.ulps, "allowed_ulps": departure.allowed_ulps}


def _came_to(found: Localized) -> str:
    outcome, metric = found.outcome, found.outcome.metric
    if outcome.status != "trained":
        return f"does not train: {outcome.cause}"
    words = f"{metric} {outcome.quality:.4g} against {found.float32.quality:.4g} in float32"
    return f"trains as well as float32: {words}" if found.works else f"trains badly: {words}"


def _where(found: Localized) -> Iterator[str]:
    place = found.outcome.first_non_finite
    if found.first is not None:
        yield f"first: {found.first.place(found.step)}; {departure_words(found.first)}"
    elif place is not None:
        yield f"first: {place}; no value of float32's to hold it against"
    elif found.compared is not None:
        yield f"no op leaves float32 by more than its precision and its inputs explain at step {found.step}"
    if found.compared is not None:
        missing = found.compared.without_twin
        yield (
            f"{found.compared.compared} ops were compared with float32 at step {found.step}, with equal weights "
            f"and batch; {missing} had no certain twin"
        )


def _cured(found: Localized) -> Iterator[str]:
    if found.cure is None:
        return
    quality = f"{found.cure.outcome.metric} {found.cure.outcome.quality:.4g}"
    if not found.cure.sites:
        yield f"cure: loss_scaling: dynamic, no layer need return to float32; {quality}"
    else:
        yield f"cure: {', '.join(f'{name}: float32' for name in _names(found.cure))}; {quality}"
        yield "no part of that is enough" if len(found.cure.sites) > 1 else "nothing more need return to float32"
    yield f"policy: {found.cure.policy}"


def _names(cure: Cure) -> Iterator[str]:
    yield from (site.name or "." for site in cure.sites)


def _cost(found: Localized) -> Iterator[str]:
    share = found.steps_spent / found.trial_steps
    trainings = "1 training" if found.probes == 1 else f"{found.probes} trainings"
    yield (
        f"looking cost {trainings} and {found.steps_spent} steps in all, {share:.2g} of a trial's "
        f"{found.trial_steps} (beside the policy's own training and float32's)"
    )


def _failed(found: Localized) -> str:
    outcome = found.outcome
    what = outcome.cause or f"{outcome.metric} {outcome.quality:.4g} against {found.float32.quality:.4g}"
    if found.first is None:
        return f"in low precision: {what}"
    return f"in low precision: {what}; first at {found.first.place(found.step)}: {departure_words(found.first)}"


def _headroom(departure: Departure) -> str:
    doublings = departure.headroom
    if doublings < 0:
        return f"{-doublings:.1f} doublings beyond"
    return "no bound below" if doublings == float("inf") else f"{doublings:.1f} doublings below"
