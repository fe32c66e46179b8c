"""How many terms one element of an op's output sums, from the op table."""

from math import prod
from typing import Any

from ...policies.ops import OP_CLASSES

# Normalisations keep their sums in float32; a largest value sums nothing.
_OWN_SUMS = frozenset({"normalization", "inplace_normalization"})
_NO_SUM = ("Max", "Min", "Arg", "Median", "Kthvalue", "Quantile")


def summed_length(row: Any, forward_op: str) -> int | None:
    """The terms of one sum, None for an op that sums nothing; `forward_op` is what a gradient op belongs to.

    A product sums a multiply-add each: its operations over twice its outputs. A reduction that keeps its shape
    (softmax) sums the last axis.
    """
    op = row["graph_op"]
    outputs = prod(row["output_shapes"][0]) if row["output_shapes"] else 0
    if OP_CLASSES.get(forward_op) in _OWN_SUMS or not outputs:
        return None
    if _is_product(op):
        return round(row["flops"] / (2 * outputs)) or None if row["flops"] else None
    if not _reduces(op) or not row["input_shapes"]:
        return None
    taken = row["input_shapes"][0]
    length = prod(taken) // outputs
    if length <= 1:
        length = taken[-1] if taken else 1
    return length if length > 1 else None


def _is_product(op: str) -> bool:
    return OP_CLASSES.get(op) == "matrix" or "MatMul" in op or op.startswith("Conv")


def _reduces(op: str) -> bool:
    reduces = OP_CLASSES.get(op) == "reduction" or op == "BiasAddGrad"
    return reduces and not any(word in op for word in _NO_SUM)
