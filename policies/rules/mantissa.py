"""Values whose differences a short mantissa cannot hold."""

from dataclasses import dataclass

from ..precision import FORMATS, LowPrecision
from .rule import Harm, bounded, place, saturating
from .statistics import GroupStatistics


@dataclass(frozen=True)
class MantissaRule:
    """The share of values that rounding moves by much of their spread: timestamps, positions beyond 2,048.

    Harm is as likely as not when `even_share` of a tensor is hit, and at most `most` likely: often the network
    does not need what is lost.
    """

    name: str = "mantissa"
    even_share: float = 0.1
    most: float = 0.85

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """Judged by the tensor of the forward pass that is hit most."""
        found = [
            (lost, op, tensor)
            for op in group.ops
            for tensor in op.tensors
            if (lost := tensor.detail_lost(precision)) is not None
        ]
        if not found:
            return None
        share, op, tensor = max(found, key=lambda each: each[0])
        bits = FORMATS[precision].mantissa_bits + 1
        where = place(op.op, op.direction, tensor.kind)
        reason = f"{share:.1%} of the values differ by less than {precision}'s {bits} bits hold, in {where}"
        return Harm(self.name, bounded(self.most * saturating(share, self.even_share)), reason)
