"""Sums too long for a format."""

from dataclasses import dataclass

from ..ops import OP_CLASSES
from ..precision import FORMATS, LowPrecision
from .rule import Harm, bounded, saturating
from .statistics import GroupStatistics


@dataclass(frozen=True)
class ReductionLengthRule:
    """The number of terms in one sum, for devices that keep the sum in the low precision.

    Beyond 2^(mantissa bits + 1) terms of one sign and size, a sum in the low precision stands still. Harm is as
    likely as not at `even_factor` times that, since terms of both signs sum shorter, and at most `most` likely:
    CPUs, and the matrix units of accelerators, keep wider sums, which is why products are allowed
    `matrix_factor` times more terms. A CPU cannot show this harm.
    """

    name: str = "reduction length"
    even_factor: float = 32.0
    matrix_factor: float = 64.0
    most: float = 0.5

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """Judged by the longest sum, that of a product counted shorter by `matrix_factor`."""
        found = [(self._terms(op.op, op.summed_length), op) for op in group.ops if op.summed_length is not None]
        if not found:
            return None
        terms, op = max(found, key=lambda each: each[0])
        holds = 2 ** (FORMATS[precision].mantissa_bits + 1)
        reason = f"sums of {op.summed_length:,} terms, where {precision} holds {holds:,}, in {op.op}"
        return Harm(self.name, bounded(self.most * saturating(terms, self.even_factor * holds)), reason)

    def _terms(self, op: str, length: int) -> float:
        return length / self.matrix_factor if OP_CLASSES.get(op) == "matrix" else float(length)
