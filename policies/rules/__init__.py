"""Rules that say, from the statistics of a float32 run, how likely a group fails in low precision, and why."""

from .alone import MovedAloneRule, NonFiniteAloneRule, UnlessHarmlessAlone
from .belief import STANDARD_RULES, Belief, believe, noisy_or
from .mantissa import MantissaRule
from .op_class import OpClassRule
from .range_rule import RangeRule
from .reduction_length import ReductionLengthRule
from .rule import Harm, Rule
from .statistics import AloneEffect, GroupStatistics, OpStatistics, TensorStatistics
from .underflow import PoleRule, UnderflowRule, UnscaledUnderflowRule

__all__ = [
    "STANDARD_RULES",
    "AloneEffect",
    "Belief",
    "GroupStatistics",
    "Harm",
    "MantissaRule",
    "MovedAloneRule",
    "NonFiniteAloneRule",
    "OpClassRule",
    "OpStatistics",
    "PoleRule",
    "RangeRule",
    "ReductionLengthRule",
    "Rule",
    "TensorStatistics",
    "UnderflowRule",
    "UnlessHarmlessAlone",
    "UnscaledUnderflowRule",
    "believe",
    "noisy_or",
]
