"""How much arithmetic and memory traffic an op is, from its shapes: one table of rules.

A multiply-add counts as two operations. Element-wise ops count one per output element and reductions one per
input element, whatever the function: next to their memory traffic it hardly matters. Every operand is read once
and every output written once, unless the table says otherwise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

from ...policies.ops import OP_CLASSES
from .value_types import TensorType


@dataclass(frozen=True)
class OpShapes:
    """What a rule may look at: each operand as written, the tensors of each operand, the outputs."""

    op: str
    operands: tuple[str, ...]
    inputs: tuple[tuple[TensorType, ...], ...]
    outputs: tuple[TensorType, ...]

    @property
    def tensors(self) -> tuple[TensorType, ...]:
        """Every tensor that goes in, in order."""
        return tuple(tensor for operand in self.inputs for tensor in operand)


@dataclass(frozen=True)
class Work:
    """Operations and bytes of one op; `flops` is None without a rule, all are None for an unknown shape."""

    flops: int | None
    bytes_read: int | None
    bytes_written: int | None


def work(op: OpShapes) -> Work:
    """What one op costs, by the table; an op of another form than its rule expects counts as without one."""
    if not all(tensor.known for tensor in (*op.tensors, *op.outputs)):
        return Work(None, None, None)
    if op.op in _VIEWS:
        return Work(0, 0, 0)
    try:
        return Work(*_count(op))
    except IndexError:
        return Work(None, *_everything_once(op))


def _count(op: OpShapes) -> tuple[int | None, int, int]:
    rule, traffic = _RULES.get(op.op), _TRAFFIC.get(op.op, _everything_once)
    return (rule(op) if rule else None, *traffic(op))


# Arithmetic


def _matmul(op: OpShapes) -> int:
    """Every element of the output is a dot product as long as the axis that is summed over."""
    left = op.tensors[0].shape
    transposed = len(op.operands) > 2 and op.operands[2] == "Bool(1)"
    return 2 * op.outputs[0].size * (left[-2] if transposed else left[-1])


def _dense(op: OpShapes) -> int:
    product = 2 * op.outputs[0].size * op.tensors[0].shape[-1]
    return product + (op.outputs[0].size if len(op.tensors) > 2 else 0)


def _convolution(op: OpShapes) -> int:
    """Weights (out, in / groups, height, width): each output is a dot product over one filter."""
    return 2 * op.outputs[0].size * prod(op.tensors[1].shape[1:])


def _convolution_input_gradient(op: OpShapes) -> int:
    """The forward's products once more: the output's gradient, then the weights."""
    return 2 * op.tensors[0].size * prod(op.tensors[1].shape[1:])


def _convolution_weight_gradient(op: OpShapes) -> int:
    """The forward's products once more: the output's gradient first, the weights' gradient comes out."""
    return 2 * op.tensors[0].size * prod(op.outputs[0].shape[1:])


def _per_output(count: int) -> Callable[[OpShapes], int]:
    return lambda op: count * op.outputs[0].size


def _per_input(count: int) -> Callable[[OpShapes], int]:
    return lambda op: count * op.tensors[0].size


def _sum(op: OpShapes) -> int:
    return (len(op.tensors) - 1) * op.outputs[0].size


def _pooling(op: OpShapes) -> int:
    """One operation for each element of a window; a window covers the input once per output at least."""
    return max(tensor.size for tensor in (op.tensors[0], op.outputs[0]))


def _nothing(op: OpShapes) -> int:
    return 0


# Memory traffic


def _everything_once(op: OpShapes) -> tuple[int, int]:
    read = dict(zip(op.operands, op.inputs, strict=False))  # A value that is given twice is read once.
    return (
        sum(tensor.bytes for operand in read.values() for tensor in operand),
        sum(tensor.bytes for tensor in op.outputs),
    )


def _rows_of_table(op: OpShapes) -> tuple[int, int]:
    """Only the rows that are looked up are read."""
    indices = sum(tensor.bytes for tensor in op.tensors[1:])
    written = sum(tensor.bytes for tensor in op.outputs)
    return indices + written, written


def _in_place(op: OpShapes) -> tuple[int, int]:
    """Reads everything; writes back each Parameter that it is given, as far as it has the first one's shape."""
    read, _ = _everything_once(op)
    first = op.tensors[0].shape
    return read, sum(tensor.bytes for tensor in op.tensors if tensor.parameter and tensor.shape == first)


def _overwrites(op: OpShapes) -> tuple[int, int]:
    """The first operand is written and not read."""
    return sum(tensor.bytes for tensor in op.tensors[1:]), op.tensors[0].bytes


_VIEWS = frozenset(
    [
        "Reshape",
        "ExpandDims",
        "Squeeze",
        "Flatten",
        "FlattenExt",
        "View",
        "ViewCopy",
        "Unsqueeze",
        "Shape",
        "ReshapeExt",
    ]
)
"""Ops that give the same bytes another shape: they move nothing."""

_ELEMENTWISE_GRADIENTS = """
AbsGrad AcosGrad AcoshGrad AsinGrad AsinhGrad AtanGrad EluGrad FastGeLUGrad GLUGrad GeLUGrad GeluGrad GeluGradExt
HShrinkGrad HSigmoidGrad HSwishGrad InvGrad LeakyReLUGradExt LogSigmoidGrad MaximumGrad MinimumGrad MishGradExt
PReLUGrad ReciprocalGrad ReLU6Grad ReLUGrad ReluGrad RsqrtGrad SeluGrad SiLUGrad SigmoidGrad SoftplusGrad
SoftShrinkGrad SoftplusGradExt SqrtGrad SwigluGrad TanhGrad ThresholdGrad ClampGrad DropoutGrad DropoutGradExt
"""

_OTHER_ELEMENTWISE = """
Cast Equal EqScalar NotEqual NeScalar Greater GreaterEqual GreaterScalar GreaterEqualScalar Less LessEqual
LessScalar LessEqualScalar LogicalAnd LogicalNot LogicalOr LogicalXor IsFinite IsInf IsNan BitwiseAnd BitwiseOr
DropoutGenMask DropoutGenMaskExt DropoutDoMask
"""

_MOVES = """
BroadcastTo Tile Transpose Concat Split SplitTensor SplitWithSize Slice SliceExt SliceGrad StridedSlice
StridedSliceGrad Stack StackExt Unstack Pack Unpack Pad PadV3 PadV3Grad MirrorPad MirrorPadGrad OneHot OneHotExt
Gather GatherD GatherNd GatherV2 Embedding EmbeddingLookup ScatterNd ZerosLike ZerosLikeExt OnesLike OnesLikeExt
Zeros Ones Fill FillV2 FillScalar FillTensor Range Arange TensorMove Assign TensorScatterUpdate Triu Tril TrilExt
Eye Identity ReverseV2 Roll Narrow Chunk Copy Contiguous TensorShape Size Rank ScalarToTensor TensorToScalar
DepthToSpace SpaceToDepth BatchToSpaceND SpaceToBatchND RepeatInterleaveInt RepeatInterleaveTensor Expand
"""

_RULES: Mapping[str, Callable[[OpShapes], int]] = MappingProxyType(
    {name: _per_output(1) for name, kind in OP_CLASSES.items() if kind == "elementwise"}
    | {name: _per_input(1) for name, kind in OP_CLASSES.items() if kind == "reduction"}
    | dict.fromkeys((_ELEMENTWISE_GRADIENTS + _OTHER_ELEMENTWISE).split(), _per_output(1))
    | dict.fromkeys(_MOVES.split(), _nothing)
    | dict.fromkeys(("AddN", "AccumulateNV2"), _sum)
    | dict.fromkeys(
        ["MatMul", "MatMulExt", "BatchMatMul", "BatchMatMulExt", "Mm", "Mv", "Dot", "MatMulV2"], _matmul
    )
    | {"Dense": _dense}
    | dict.fromkeys(
        ["Conv1DExt", "Conv2D", "Conv2DExt", "Conv3D", "Conv3DExt", "DepthwiseConv2dNative"], _convolution
    )
    | dict.fromkeys(
        ["Conv2DBackpropInput", "Conv2DTranspose", "Conv3DBackpropInput", "Conv3DTranspose"],
        _convolution_input_gradient,
    )
    | dict.fromkeys(["Conv2DBackpropFilter", "Conv3DBackpropFilter"], _convolution_weight_gradient)
    | dict.fromkeys(
        ["BiasAddGrad", "ReduceAll", "ReduceAny", "All", "Any", "CumSum", "UnsortedSegmentSum"], _per_input(1)
    )
    | dict.fromkeys(("TensorScatterAdd", "IndexAddExt", "EmbeddingDenseBackward", "EmbeddingGrad"), _per_input(1))
    | dict.fromkeys(["AvgPool", "MaxPool", "AvgPoolGrad", "MaxPoolGrad", "AvgPool2D", "AvgPool2DGrad"], _pooling)
    # Largest value, difference, exponential, sum, quotient; backwards product, sum, difference, product.
    | dict.fromkeys(("Softmax", "LogSoftmax", "LogSoftmaxExt"), _per_output(5))
    | dict.fromkeys(("SoftmaxBackward", "SoftmaxGrad", "LogSoftmaxGrad"), _per_output(4))
    # Mean, variance (2), difference, quotient, scale, shift; the gradient goes through each twice.
    | dict.fromkeys(
        [
            "BatchNorm",
            "BatchNormExt",
            "LayerNorm",
            "LayerNormExt",
            "GroupNorm",
            "InstanceNorm",
            "InstanceNormV2",
            "SyncBatchNorm",
        ],
        _per_output(7),
    )
    | dict.fromkeys(("RmsNorm", "L2Normalize"), _per_output(4))
    | dict.fromkeys(
        [
            "BatchNormGrad",
            "BatchNormExtGrad",
            "LayerNormGrad",
            "LayerNormGradExt",
            "GroupNormGrad",
            "InstanceNormGrad",
        ],
        lambda op: 14 * op.tensors[0].size,
    )
    | dict.fromkeys(("RmsNormGrad", "L2NormalizeGrad"), lambda op: 8 * op.tensors[0].size)
    | {name: _per_input(7) for name, kind in OP_CLASSES.items() if kind == "loss"}
    | dict.fromkeys(["BinaryCrossEntropyGrad", "KLDivLossGrad", "SmoothL1LossGrad"], _per_input(7))
    | dict.fromkeys(("NLLLossGrad", "MSELossGradExt", "SigmoidCrossEntropyWithLogitsGrad"), _per_input(3))
    # Operations per weight.
    | dict.fromkeys(("Assign", "AssignAdd", "AssignSub"), _per_input(1))
    | {"ApplyMomentum": _per_input(4), "FusedMomentum": _per_input(4), "SGD": _per_input(6)}
    | {"ApplyGradientDescent": _per_input(2), "ApplyRMSProp": _per_input(9), "ApplyAdagrad": _per_input(5)}
    | dict.fromkeys(
        ("Adam", "ApplyAdam", "FusedAdam", "AdamWeightDecay", "FusedCastAdamWeightDecay"), _per_input(12)
    )
    | {"AdamW": _per_input(14), "Lamb": _per_input(20), "LARSUpdate": _per_input(6)}
)

_TRAFFIC: Mapping[str, Callable[[OpShapes], tuple[int, int]]] = MappingProxyType(
    dict.fromkeys(["Gather", "GatherV2", "Embedding", "EmbeddingLookup", "GatherNd"], _rows_of_table)
    | {"Assign": _overwrites}
    | dict.fromkeys(
        [
            "AssignAdd",
            "AssignSub",
            "ApplyMomentum",
            "FusedMomentum",
            "SGD",
            "ApplyGradientDescent",
            "ApplyRMSProp",
            "ApplyAdagrad",
            "Adam",
            "ApplyAdam",
            "FusedAdam",
            "AdamWeightDecay",
            "FusedCastAdamWeightDecay",
            "AdamW",
            "Lamb",
        ],
        _in_place,
    )
)
