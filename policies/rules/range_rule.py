"""Values too large for a format."""

import math
from dataclasses import dataclass

from ..precision import FORMATS, LowPrecision
from .rule import Harm, bounded, logistic, place
from .statistics import GroupStatistics


@dataclass(frozen=True)
class RangeRule:
    """The largest value against the format's: certain beyond it, unlikely with several doublings to spare.

    Headroom is log2(largest of the format / largest value). At `even_headroom` doublings harm is as likely as
    not: values grow during a training that is longer than the run. Gradients count without a loss scale, since a
    dynamic scale gives way to them.
    """

    name: str = "range"
    even_headroom: float = 1.0
    steepness: float = 2.0

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """Judged by the largest value of all."""
        found = [(tensor.largest, op, tensor) for op in group.ops for tensor in op.tensors if tensor.largest > 0]
        if not found:
            return None
        # Of equals, the place where the value comes from.
        largest, op, tensor = max(found, key=lambda each: (each[0], each[2].kind == "output"))
        limit = FORMATS[precision].max
        headroom = math.log2(limit) - math.log2(largest)
        probability = bounded(logistic(self.steepness * (self.even_headroom - headroom)))
        where = place(op.op, op.direction, tensor.kind)
        text = f"{limit:,.0f}" if limit < 1e6 else f"{limit:.3g}"
        if headroom < 0:
            share = f", {tensor.beyond_float16:.2%} of its values" if precision == "float16" else ""
            reason = f"largest value {largest:.3g} beyond {precision}'s {text} in {where}{share}"
        else:
            reason = (
                f"largest value {largest:.3g}, {headroom:.1f} doublings below {precision}'s {text}, in {where}"
            )
        return Harm(self.name, probability, reason)
