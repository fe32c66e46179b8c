"""A policy from one float32 run: low everywhere but where the rules see harm, with a reason for each rule."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...evaluators.sensitivity.result import Sensitivity
from ...evaluators.survey_result import Survey
from ...policies import LowPrecision, Policy, idle_rules, resolve
from ...policies.errors import InputError
from ...policies.layer_types import LAYER_TYPES
from ...policies.patterns import parse_pattern
from ...policies.rules import STANDARD_RULES, Belief, GroupStatistics, OpClassRule, believe
from ...search.site_space import SiteGroup
from ..localize_policy import returned_to_float32

MOST_HARM = 0.3
"""What is likelier to harm than this stays in float32: a wrong guess that way costs a little speed.

A hazard that the rules know is believed above 0.9 mostly, what is none below 0.1: little hangs on the number.
"""
_RULES = (*STANDARD_RULES, OpClassRule())


@dataclass(frozen=True)
class Kept:
    """A group of layers, or one op of it, that stays in float32."""

    group: GroupStatistics
    belief: Belief

    @property
    def reason(self) -> str:
        """For the policy file."""
        return f"{self.belief.reason} (chance of harm {self.belief.probability:.2f}, by rules over a float32 run)"

    @property
    def site(self) -> SiteGroup:
        """As rewriting takes it."""
        covered = [pattern.partition("::") for pattern in self.group.covers]
        paths = tuple("" if path == "." else path for path, _, _ in covered)
        op = covered[0][2] or None
        return SiteGroup(
            self.group.name or ".", paths, op, self.group.governed_ops, ("float32", self.belief.precision)
        )


def kept_in(found: Sensitivity, precision: LowPrecision) -> tuple[Kept, ...]:
    """What is too likely to harm; of a group that was taken apart only the ops that explain it, where some do."""
    return tuple(sorted(_kept(found, precision), key=lambda kept: (-kept.belief.probability, kept.group.name)))


def suggested(
    found: Sensitivity, survey: Survey, precision: LowPrecision, keep: Sequence[str]
) -> tuple[Policy, tuple[Kept, ...]]:
    """The policy with its reasons, and what the rules kept; `keep` are the patterns that stay float32 besides.

    Raises:
        InputError: a pattern of `keep` is none, or names nothing of the network.
    """
    kept = kept_in(found, precision)
    low = Policy(default=precision, low_precision=precision)
    asked = low.replace(layers=dict.fromkeys(_patterns(keep, survey), "float32"))
    policy = returned_to_float32(asked, [each.site for each in kept], survey)
    return policy.replace(reasons=dict(_reasons(policy, kept, keep))), kept


def _kept(found: Sensitivity, precision: LowPrecision) -> Iterator[Kept]:
    for group in found.groups:
        whole = Kept(group, believe(group, precision, _RULES))
        if whole.belief.probability <= MOST_HARM:
            continue
        parts = [Kept(part, believe(part, precision, _RULES)) for part in found.parts_of(group.name)]
        harmful = [part for part in parts if part.belief.probability > MOST_HARM]
        yield from harmful or (whole,)


def _patterns(keep: Sequence[str], survey: Survey) -> Sequence[str]:
    for text in keep:
        try:
            parse_pattern(text)
        except ValueError as error:
            raise InputError(f"--keep {text}: {error}") from error
    policy = Policy(default="float16", layers=dict.fromkeys(keep, "float32"))
    resolve(policy, survey.outline)
    for text in idle_rules(policy, survey.outline):
        types = sorted(LAYER_TYPES & {name for cell in survey.cells for name in cell.type_names})
        raise InputError(f"--keep {text} names no layer of {survey.workload}, which has {', '.join(types)}")
    return keep


def _reasons(policy: Policy, kept: Sequence[Kept], keep: Sequence[str]) -> Iterator[tuple[str, str]]:
    """By rule: the likeliest harm of what it names; what was asked for says so."""
    for pattern, precision in policy.layers.items():
        if precision != "float32":
            continue
        if pattern in keep:
            yield pattern, "asked for with --keep"
            continue
        rule = parse_pattern(pattern)
        for each in kept:
            site = each.site
            if any(rule.matches_path(path) for path in site.paths) and rule.op in (None, site.op, *site.ops):
                yield pattern, each.reason
                break
