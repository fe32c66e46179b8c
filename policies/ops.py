"""The op table: which MindSpore primitives have a precision, and what kind of op each one is."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from . import op_table
from .near_miss import UnknownName

OpClass = Literal[
    "matrix", "elementwise", "reduction", "loss", "normalization", "inplace_normalization", "movement"
]

_NAMES: Mapping[OpClass, str] = {
    "matrix": op_table.MATRIX,
    "elementwise": op_table.ELEMENTWISE,
    "reduction": op_table.REDUCTION,
    "loss": op_table.LOSS,
    "normalization": op_table.NORMALIZATION,
    "inplace_normalization": op_table.INPLACE_NORMALIZATION,
    "movement": op_table.MOVEMENT,
}

OP_CLASSES: Mapping[str, OpClass] = MappingProxyType(
    {name: op_class for op_class, names in _NAMES.items() for name in names.split()}
)
"""Every op that a policy may name.

In low precision, matrix, element-wise, reduction, normalisation and movement ops take low floats and give
low floats. A loss stays in float32 unless a rule names it. In-place normalisations update their statistics,
so MindSpore refuses to cast what they are given: they follow their data.
"""

GRAPH_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Add": ("AddExt", "AddScalar", "AddV2", "TensorAdd"),
        "BatchMatMul": ("BatchMatMulExt",),
        "BatchNorm": ("BatchNormExt",),
        "Conv2D": ("Conv2DExt",),
        "Conv3D": ("Conv3DExt",),
        "CumSum": ("CumsumExt",),
        "Div": ("Divs", "RealDiv"),
        "DivMod": ("DivMods",),
        "FloorDiv": ("FloorDivScalar",),
        "GeLU": ("Gelu", "GeluExt"),
        "LayerNorm": ("LayerNormExt",),
        "LogSoftmax": ("LogSoftmaxExt",),
        "MaskedFill": ("MaskedFillScalar",),
        "MatMul": ("MatMulExt", "Mm"),
        "Mul": ("Muls",),
        "Pow": ("PowScalarTensor", "PowTensorScalar"),
        "ReduceMean": ("MeanExt",),
        "ReduceProd": ("ProdExt",),
        "ReduceSum": ("SumExt",),
        "Softplus": ("SoftplusExt",),
        "Sub": ("SubExt", "SubScalar"),
    }
)
"""The other names under which one op shows in a graph: overloads with a Python number, and newer versions."""

_FAMILY: Mapping[str, str] = MappingProxyType(
    {variant: op for op, variants in GRAPH_NAMES.items() for variant in variants}
)


def variants(op: str) -> tuple[str, ...]:
    """Every name that a rule or list entry `op` governs: itself and its graph names.

    `Mul` governs `Muls` too (a product with a Python number), `MatMul` also `MatMulExt`. The other way round
    it doesn't: `Muls` governs only itself, and beats what `Mul` says about it.
    """
    return (op, *GRAPH_NAMES.get(op, ()))


def family(op: str) -> str:
    """The op that also governs this one: `Mul` for `Muls`; most ops are their own family."""
    return _FAMILY.get(op, op)


def check_op(name: str) -> str:
    """`name` itself.

    Raises:
        UnknownName: the op table doesn't know it.
    """
    if name in OP_CLASSES:
        return name
    raise UnknownName(f"must name a MindSpore op that computes with floats; got {name!r}", name, OP_CLASSES)
