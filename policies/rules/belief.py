"""What all rules together say of a group: a probability, never a ban."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..precision import LowPrecision
from .alone import MovedAloneRule, NonFiniteAloneRule, UnlessHarmlessAlone
from .mantissa import MantissaRule
from .range_rule import RangeRule
from .reduction_length import ReductionLengthRule
from .rule import Harm, Rule, bounded
from .statistics import GroupStatistics
from .underflow import PoleRule, UnderflowRule

# A harm less likely than this is no reason for anything.
_NEGLIGIBLE = 0.01

STANDARD_RULES: tuple[Rule, ...] = (
    NonFiniteAloneRule(),
    UnlessHarmlessAlone(RangeRule()),
    UnderflowRule(),
    PoleRule(),
    MantissaRule(),
    ReductionLengthRule(),
    MovedAloneRule(),
)


@dataclass(frozen=True)
class Belief:
    """How likely a group in a precision harms the training; `harms` by falling probability, none negligible."""

    group: str
    precision: LowPrecision
    probability: float
    harms: tuple[Harm, ...]

    @property
    def reason(self) -> str:
        """The most likely harm in words, or that none was found."""
        return self.harms[0].reason if self.harms else "no sign of harm"


def believe(group: GroupStatistics, precision: LowPrecision, rules: Sequence[Rule] = STANDARD_RULES) -> Belief:
    """The rules' answers joined by a noisy-or: each may be the cause, independently of the others.

    The probability is 1 - product(1 - p), kept within (0, 1); the least possible one if no rule knows anything.
    """
    found = [harm for rule in rules if (harm := rule.judge(group, precision)) is not None]
    harms = sorted(found, key=lambda harm: harm.probability, reverse=True)
    shown = tuple(harm for harm in harms if harm.probability >= _NEGLIGIBLE)
    return Belief(group.name, precision, noisy_or(harm.probability for harm in harms), shown)


def noisy_or(probabilities: Iterable[float]) -> float:
    """The probability that at least one of several independent causes is at work, kept within (0, 1)."""
    return bounded(1 - math.prod(1 - probability for probability in probabilities))
