"""Which ops MindSpore's functions, operators and tensor methods compute, as the compiled graph shows it.

Only what gives its result in the type that its inputs are cast to: `ops.hardtanh` and the like give the type that
they were called with back, so casts around them do something else. A test holds each entry against autocast
regions. What is not here, the symbol-tree engine refuses.
"""

import builtins
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mindspore import mint, ops

OPERATORS: Mapping[str, frozenset[str]] = {
    "Add": frozenset({"Add"}),
    "Sub": frozenset({"Sub"}),
    "Mult": frozenset({"Mul", "Muls"}),
    "Div": frozenset({"Div", "Divs"}),
    "MatMult": frozenset({"MatMulExt"}),
    "Pow": frozenset({"Pow"}),
    "FloorDiv": frozenset({"FloorDiv"}),
    "Mod": frozenset({"RemainderTensorTensor", "RemainderTensorScalar"}),
    "USub": frozenset({"Neg"}),
}
"""Python's operators on tensors, by the name of their node in a syntax tree."""

NUMBER_OVER_TENSOR = frozenset({"Div", "Reciprocal", "Muls"})
"""What a number divided by a tensor computes."""

_FUNCTIONS = """
abs:Abs adaptive_avg_pool2d:AdaptiveAvgPool2D add:Add addmm:MatMul,Add bmm:BatchMatMul cat:Concat ceil:Ceil
clamp:ClampScalar clip:ClampScalar concat:Concat conv2d:Conv2D,BiasAdd cos:Cos cosh:Cosh cumsum:CumSum
dense:Dense diag:Diag div:Div einsum:Einsum elu:Elu erf:Erf erfc:Erfc exp:Exp expm1:Expm1 fast_gelu:FastGeLU
flip:ReverseV2 floor:Floor gather:Gather gelu:GeLU,Div,Erf,Add,Mul group_norm:GroupNorm hardsigmoid:HSigmoid
hardswish:HSwish index_select:Gather layer_norm:LayerNormExt leaky_relu:Mul,Maximum lerp:Lerp log:Log
log1p:Log1p log_softmax:LogSoftmax logsigmoid:Sigmoid,Log logsumexp:ReduceMax,Sub,Exp,SumExt,Log,Add
masked_fill:MaskedFill matmul:MatMulExt max:Max,ArgMaxWithValue maximum:Maximum mean:ReduceMean
min:Min,ArgMinWithValue minimum:Minimum mish:Mish mul:Mul neg:Neg norm:Square,ReduceSum,Sqrt pad:PadV3 pow:Pow
prelu:PReLU prod:ProdExt reciprocal:Reciprocal reduce_mean:ReduceMean reduce_sum:ReduceSum relu6:ReLU6 relu:ReLU
roll:Roll round:Round rsqrt:Rsqrt select:Select selu:SeLU sigmoid:Sigmoid sign:Sign silu:SiLU sin:Sin sinh:Sinh
softmax:Softmax softplus:Softplus,Muls,Select softsign:Softsign sort:Sort sqrt:Sqrt square:Square stack:Stack
std:ReduceStd sub:Sub sum:SumExt tan:Tan tanh:Tanh tile:Tile topk:TopK tril:Tril triu:Triu var:ReduceStd,Pow
where:Select
arange argmax broadcast_to cast chunk depend equal expand_dims flatten full_like greater greater_equal
is_floating_point isfinite isnan less less_equal logical_and logical_not logical_or movedim narrow not_equal
one_hot ones ones_like permute rank reshape shape size split squeeze stop_gradient swapaxes transpose unbind
unsqueeze unstack zeros zeros_like
"""

_MINT = """
abs:Abs add:AddExt bmm:BatchMatMulExt cat:Concat concat:Concat div:Div exp:Exp log:Log matmul:MatMulExt max:Max
mean:MeanExt mul:Mul pow:PowTensorScalar sigmoid:Sigmoid sqrt:Sqrt square:Square stack:StackExt sub:SubExt
sum:SumExt tanh:Tanh nn.functional.gelu:GeluExt nn.functional.layer_norm:LayerNormExt nn.functional.linear:Dense
nn.functional.relu:ReLU nn.functional.silu:SiLU nn.functional.softmax:Softmax
nn.functional.log_softmax:LogSoftmaxExt permute reshape split transpose unsqueeze
"""

_METHODS = """
abs:Abs add:Add clamp:ClampScalar clip:ClampScalar cos:Cos cumsum:CumSum div:Div exp:Exp floor:Floor
gather:Gather log:Log masked_fill:MaskedFill,MaskedFillScalar matmul:MatMulExt max:Max,ArgMaxWithValue
maximum:Maximum mean:ReduceMean min:Min,ArgMinWithValue minimum:Minimum mul:Mul neg:Neg
norm:Square,ReduceSum,Sqrt pow:Pow prod:ProdExt round:Round rsqrt:Rsqrt sigmoid:Sigmoid sin:Sin softmax:Softmax
sqrt:Sqrt square:Square std:ReduceMean,Sub,Pow,ReduceSum,Div sub:Sub sum:SumExt tanh:Tanh tile:Tile
var:ReduceMean,Sub,Pow,ReduceSum,Div all any argmax astype bfloat16 bool broadcast_to chunk contiguous dim
expand_dims flatten float half int isnan long ndimension permute reshape split squeeze swapaxes t to transpose
type_as unsqueeze view
"""

_OTHER_METHODS = """
append format get items join keys startswith values
"""

_WITHOUT_OPS = ("len", "isinstance", "print", "hasattr", "callable", "type")
"""Python's own functions that compute with no tensor."""


@cache
def function_ops() -> Mapping[Callable[..., Any], frozenset[str]]:
    """The ops of each known function of `mindspore.ops` and `mindspore.mint`; none where it has no floats."""
    found = {}
    for module, text in ((ops, _FUNCTIONS), (mint, _MINT)):
        for name, computed in _entries(text):
            found[operator.attrgetter(name)(module)] = computed
    return found


@cache
def method_ops() -> Mapping[str, frozenset[str]]:
    """The ops of each known method of a tensor; methods of Python's own containers and texts compute none."""
    return dict(_entries(_METHODS + _OTHER_METHODS))


def without_ops(function: object) -> bool:
    """Whether a builtin function computes with no tensor."""
    return any(function is getattr(builtins, name) for name in _WITHOUT_OPS)


def _entries(text: str) -> list[tuple[str, frozenset[str]]]:
    pairs = (word.partition(":") for word in text.split())
    return [(name, frozenset(ops.split(",")) if ops else frozenset()) for name, _, ops in pairs]
