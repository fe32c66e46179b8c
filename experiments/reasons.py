"""Why the rules of a policy keep layers and ops in float32: what failed there, and what float32's values say."""

from collections.abc import Mapping, Sequence

from ..evaluators.json_file import read_json
from ..evaluators.outcome import Place
from ..policies import Policy
from ..policies.patterns import parse_pattern
from ..policies.rules import Belief, believe
from .home import StudyFolder
from .records import TrialRecord

# Below this a chance of harm is no reason to give.
_WORTH_SAYING = 0.05


def reasons_of(policy: Policy, folder: StudyFolder, records: Sequence[TrialRecord]) -> dict[str, str]:
    """By rule that keeps something in float32: the trial that failed there, or the likeliest harm by the rules.

    Rules of which neither is known have none: they may be there for the sake of fewer casts.
    """
    kept = [pattern for pattern, precision in policy.layers.items() if precision == "float32"]
    found = _failures(records)
    beliefs = _beliefs(folder, policy)
    reasons: dict[str, str] = {}
    for pattern in kept:
        said = [text for covered, text in found.items() if _is_about(pattern, covered)]
        harms = [belief for covered, belief in beliefs.items() if _is_about(pattern, covered)]
        worst = max(harms, key=lambda belief: belief.probability, default=None)
        if worst is not None and worst.probability >= _WORTH_SAYING:
            said.append(f"{worst.reason} (chance of harm {worst.probability:.2f}, by rules over a float32 run)")
        if said:
            reasons[pattern] = "; ".join(said)
    return reasons


def _failures(records: Sequence[TrialRecord]) -> dict[str, str]:
    """The first trial that went non-finite at each place, by the rule that would name it."""
    found: dict[str, str] = {}
    for record in records:
        place: Place | None = record.outcome.first_non_finite
        if place is not None and place.layer is not None and place.op is not None:
            found.setdefault(f"{place.layer}::{place.op}", f"trial {record.number} went non-finite at {place}")
    return found


def _beliefs(folder: StudyFolder, policy: Policy) -> Mapping[str, Belief]:
    if not folder.sensitivity_file.exists():
        return {}
    # Only here: it brings in the op tables' pandas, which reading a study needs nowhere else.
    from ..evaluators.sensitivity.result import Sensitivity

    found = read_json(Sensitivity, folder.sensitivity_file)
    return {
        pattern: believe(group, policy.low_precision)
        for group in (*found.groups, *found.parts)
        for pattern in group.covers
    }


def _is_about(pattern: str, covered: str) -> bool:
    """Whether a rule decides what is covered: the same layer or op, or an op of the rule's own layer."""
    rule = parse_pattern(pattern)
    layer, _, op = covered.partition("::")
    return rule.matches_path("" if layer == "." else layer) and rule.op in (None, op)
