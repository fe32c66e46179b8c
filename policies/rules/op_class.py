"""Ops that the usual lists keep in float32 whatever their values are."""

from dataclasses import dataclass

from ..builtin import LEVELS
from ..precision import LowPrecision
from .rule import Harm
from .statistics import GroupStatistics


@dataclass(frozen=True)
class OpClassRule:
    """A group that computes an op of MindSpore's black list for `auto`: exponentials, logarithms, norms, losses.

    The list is old advice about all networks, not a figure of this one, so alone it is no reason: `probability` is
    small, and tips the scales where the figures are near. A search learns it from its trials and goes without.
    """

    name: str = "op class"
    probability: float = 0.1

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """The first such op, by name; None without one."""
        listed = sorted(set(group.governed_ops) & set(LEVELS["auto"].ops.black_list))
        if not listed:
            return None
        return Harm(
            self.name, self.probability, f"{listed[0]} is on MindSpore's own black list, for {precision} too"
        )
