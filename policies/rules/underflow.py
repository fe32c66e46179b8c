"""Values too small for a format: lost gradients, and small numbers that become 0 where 0 is a pole."""

from dataclasses import dataclass

from ..precision import FORMATS, LowPrecision
from .rule import Harm, bounded, place, saturating
from .statistics import GroupStatistics, TensorStatistics

# They are infinite at 0: a small input that becomes 0 is another answer.
_POLES = frozenset({"Inv", "Log", "Log10", "Log2", "Reciprocal", "Rsqrt"})


@dataclass(frozen=True)
class UnderflowRule:
    """The share of a gradient that becomes 0 or loses mantissa bits, with the loss scale in use.

    A value that becomes 0 counts whole, one among the subnormal numbers a tenth. Harm is as likely as not when
    `even_share` is lost: a step keeps its direction when its small parts go. Nothing is lost in a format with
    float32's exponents.
    """

    name: str = "underflow"
    even_share: float = 0.5
    subnormal_weight: float = 0.1

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """Judged by the gradient that loses most."""
        if not _narrow(precision):
            return None
        found = [
            (self._lost(*shares), op, shares[0])
            for op in group.ops
            for tensor in op.tensors
            if (shares := self._shares(tensor)) is not None
        ]
        if not found:
            return None
        lost, op, zero = max(found, key=lambda each: each[0])
        reason = (
            f"{zero:.1%} of the gradient is below {precision}'s smallest number, {self._scale_words}, in {op.op}"
        )
        return Harm(self.name, bounded(saturating(lost, self.even_share, order=4)), reason)

    @property
    def _scale_words(self) -> str:
        return "loss scale included"

    def _shares(self, tensor: TensorStatistics) -> tuple[float, float] | None:
        """The shares below the smallest subnormal and normal number; None for what is no gradient."""
        if tensor.below_subnormal_scaled is None or tensor.below_normal_scaled is None:
            return None
        return tensor.below_subnormal_scaled, tensor.below_normal_scaled

    def _lost(self, zero: float, subnormal: float) -> float:
        return zero + self.subnormal_weight * max(subnormal - zero, 0.0)


@dataclass(frozen=True)
class UnscaledUnderflowRule(UnderflowRule):
    """The same without a loss scale: what a policy without one risks."""

    name: str = "underflow without a loss scale"

    @property
    def _scale_words(self) -> str:
        return "without a loss scale"

    def _shares(self, tensor: TensorStatistics) -> tuple[float, float] | None:
        if tensor.below_subnormal_scaled is None:
            return None
        return tensor.below_subnormal, tensor.below_normal


@dataclass(frozen=True)
class PoleRule:
    """Inputs of a logarithm or a reciprocal that are not 0 and would become 0, such as `x + 1e-8`."""

    name: str = "pole"
    even_share: float = 0.001

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """Judged by the op with the largest share of such inputs."""
        if not _narrow(precision):
            return None
        found = [
            (tensor.below_subnormal, op)
            for op in group.ops
            if op.direction == "forward" and op.op in _POLES
            for tensor in op.tensors
            if tensor.kind == "input"
        ]
        if not found:
            return None
        share, op = max(found, key=lambda each: each[0])
        reason = f"{share:.2%} of what goes in become 0 in {precision}, in {place(op.op, 'forward', 'input')}"
        return Harm(self.name, bounded(saturating(share, self.even_share)), reason)


def _narrow(precision: LowPrecision) -> bool:
    return FORMATS[precision].exponent_bits < FORMATS["float32"].exponent_bits
