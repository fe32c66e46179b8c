"""How to call the op behind a kernel: the primitive, its tensors with realistic values, its constants."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from math import prod
from types import MappingProxyType
from typing import Any

import mindspore as ms
import numpy as np
from mindspore.ops import auto_generate
from mindspore.ops import operations as P
from mindspore.ops.operations import _grad_ops as G

from ...policies.errors import HalfwiseError
from ..price.signature import OTHER, Signature, Tensor

_TYPES = MappingProxyType({"float32": ms.float32, "float16": ms.float16, "bfloat16": ms.bfloat16})


@dataclass(frozen=True)
class Recipe:
    """A call `primitive(*parameters, *tensors, *constants)`.

    `parameters` are written in place. `packed`: the tensors go in as one tuple.
    """

    primitive: Any
    tensors: tuple[ms.Tensor, ...]
    parameters: tuple[ms.Tensor, ...] = ()
    constants: tuple[Any, ...] = field(default=())
    packed: bool = False


class NoRecipe(HalfwiseError):
    """Nobody has written down how to call this kernel's op."""


def recipe_for(kernel: Signature, seed: int = 0) -> Recipe:
    """The call that runs the kernel, on random data from a seed.

    Floats are normal, half of those of a kernel that is given half zeros are zeros: kernels take other times on
    data of ones, or of zeros. Ids are drawn from all rows of their table.

    Raises:
        NoRecipe: there is none for the op.
    """
    random = np.random.default_rng(seed)
    if kernel.op in _RECIPES:
        return _RECIPES[kernel.op](kernel, random)
    if any(precision == OTHER for precision, _ in kernel.inputs):
        raise NoRecipe(f"{kernel.op}: no recipe for an op on integers")
    return Recipe(_plain_primitive(kernel.op), _floats(kernel.inputs, random, kernel.half_zeros))


def _plain_primitive(op: str) -> Any:
    """An op that is made without arguments and takes nothing but tensors."""
    for module in (P, G, auto_generate.gen_ops_prim):
        if hasattr(module, op):
            try:
                return getattr(module, op)()
            except TypeError as error:
                raise NoRecipe(f"{op}: no recipe for an op with attributes") from error
    raise NoRecipe(f"{op}: no primitive of that name")


def _floats(
    tensors: tuple[Tensor, ...], random: np.random.Generator, zeros: bool = False
) -> tuple[ms.Tensor, ...]:
    return tuple(_float(tensor, random, zeros) for tensor in tensors)


def _float(tensor: Tensor, random: np.random.Generator, zeros: bool = False) -> ms.Tensor:
    precision, shape = tensor
    values = random.standard_normal(shape).astype(np.float32)
    return ms.Tensor(np.maximum(values, 0) if zeros else values).astype(_TYPES[precision])


def _positive(tensor: Tensor, random: np.random.Generator) -> ms.Tensor:
    precision, shape = tensor
    return ms.Tensor(random.uniform(0.5, 1.5, shape).astype(np.float32)).astype(_TYPES[precision])


def _ids(shape: tuple[int, ...], below: int, random: np.random.Generator) -> ms.Tensor:
    return ms.Tensor(random.integers(0, below, shape).astype(np.int32))


def _cast(kernel: Signature, random: np.random.Generator) -> Recipe:
    _refuse_other(kernel)
    tensors = _floats(kernel.inputs, random, kernel.half_zeros)
    return Recipe(P.Cast(), tensors, constants=(_TYPES[kernel.output[0]],))


def _refuse_other(kernel: Signature) -> None:
    if OTHER in (kernel.output[0], *(precision for precision, _ in kernel.inputs)):
        raise NoRecipe(f"{kernel.op}: no recipe for an op on integers")


def _quotient(kernel: Signature, random: np.random.Generator) -> Recipe:
    _refuse_other(kernel)
    primitive = _plain_primitive(kernel.op)
    return Recipe(primitive, tuple(_positive(tensor, random) for tensor in kernel.inputs))


def _rectifier_gradient(kernel: Signature, random: np.random.Generator) -> Recipe:
    gradient, output = kernel.inputs
    return Recipe(G.ReluGrad(), (_float(gradient, random), _float(output, random, zeros=True)))


def _matmul(kernel: Signature, random: np.random.Generator) -> Recipe:
    (_, left), (_, right) = kernel.inputs
    rows, columns = kernel.output[1][-2:]
    primitive = P.MatMul if kernel.op == "MatMul" else P.BatchMatMul
    for turn_left in (False, True):
        for turn_right in (False, True):
            a = left[-2:][::-1] if turn_left else left[-2:]
            b = right[-2:][::-1] if turn_right else right[-2:]
            if (a[0], b[1]) == (rows, columns) and a[1] == b[0]:
                return Recipe(primitive(turn_left, turn_right), _floats(kernel.inputs, random))
    raise NoRecipe(f"{kernel.op}: its shapes fit no product")


def _same_padding(size: tuple[int, ...], out: tuple[int, ...], kernel: tuple[int, ...]) -> dict[str, Any]:
    """Stride and padding that lead from one image size to the other: as little padding as keeps the size."""
    stride = max(1, round(size[0] / out[0]))
    needed = (out[0] - 1) * stride + kernel[0] - size[0]
    return {"stride": stride, "pad_mode": "pad", "pad": max(0, (needed + 1) // 2)}


def _convolution(kernel: Signature, random: np.random.Generator) -> Recipe:
    (_, image), (_, weight) = kernel.inputs[:2]
    how = _same_padding(image[2:], kernel.output[1][2:], weight[2:])
    primitive = P.Conv2D(weight[0], weight[2:], group=image[1] // weight[1], **how)
    return Recipe(primitive, _floats(kernel.inputs[:2], random))


def _convolution_input_gradient(kernel: Signature, random: np.random.Generator) -> Recipe:
    (_, gradient), (_, weight) = kernel.inputs[:2]
    image = kernel.output[1]
    how = _same_padding(image[2:], gradient[2:], weight[2:])
    primitive = P.Conv2DBackpropInput(weight[0], weight[2:], group=image[1] // weight[1], **how)
    return Recipe(primitive, _floats(kernel.inputs[:2], random), constants=(image,))


def _convolution_weight_gradient(kernel: Signature, random: np.random.Generator) -> Recipe:
    (_, gradient), (_, image) = kernel.inputs[:2]
    weight = kernel.output[1]
    how = _same_padding(image[2:], gradient[2:], weight[2:])
    how["stride"] = (how["stride"], how["stride"])
    how["pad_list"] = (how["pad"],) * 4
    primitive = G.Conv2DBackpropFilter(weight[0], weight[2:], group=image[1] // weight[1], **how)
    return Recipe(primitive, _floats(kernel.inputs[:2], random), constants=(weight,))


def _batch_norm(kernel: Signature, random: np.random.Generator) -> Recipe:
    data, *statistics = kernel.inputs
    tensors = (_float(data, random), *(_positive(tensor, random) for tensor in statistics))
    return Recipe(P.BatchNorm(is_training=True), tensors)


def _batch_norm_gradient(kernel: Signature, random: np.random.Generator) -> Recipe:
    data, statistics = kernel.inputs[:2], kernel.inputs[2:]
    tensors = (*_floats(data, random), *(_positive(tensor, random) for tensor in statistics))
    return Recipe(G.BatchNormGrad(is_training=True), tensors)


def _layer_norm(kernel: Signature, random: np.random.Generator) -> Recipe:
    axis = len(kernel.inputs[0][1]) - len(kernel.inputs[1][1])
    return Recipe(P.LayerNorm(axis, axis), _floats(kernel.inputs, random))


def _layer_norm_gradient(kernel: Signature, random: np.random.Generator) -> Recipe:
    gradient, data, variance, mean, scale = kernel.inputs
    axis = len(data[1]) - len(scale[1])
    tensors = (*_floats((gradient, data), random), _positive(variance, random), *_floats((mean, scale), random))
    return Recipe(G.LayerNormGrad(axis, axis), tensors)


def _transpose(kernel: Signature, random: np.random.Generator) -> Recipe:
    before, after = kernel.inputs[0][1], kernel.output[1]
    orders = [order for order in permutations(range(len(before))) if tuple(before[i] for i in order) == after]
    # Of several orders that fit the shapes, the one that moves something and keeps the last axis, if there is one.
    order = max(orders, key=lambda order: (order != tuple(range(len(before))), order[-1] == len(before) - 1))
    return Recipe(P.Transpose(), _floats(kernel.inputs[:1], random, kernel.half_zeros), constants=(order,))


def _reduction(kernel: Signature, random: np.random.Generator) -> Recipe:
    before, after = kernel.inputs[0][1], kernel.output[1]
    keeps = len(before) == len(after)
    if keeps:
        axes = tuple(axis for axis, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])
    else:
        axes = tuple(range(len(before)))[len(after) :]
    if kernel.op == "ReduceAll":
        tensors = (ms.Tensor(np.ones(before, bool)),)
    else:
        _refuse_other(kernel)
        tensors = _floats(kernel.inputs[:1], random, kernel.half_zeros)
    return Recipe(getattr(P, kernel.op)(keep_dims=keeps), tensors, constants=(axes,))


def _look_up(kernel: Signature, random: np.random.Generator) -> Recipe:
    table, (_, ids) = kernel.inputs[:2]
    return Recipe(P.Gather(), (_float(table, random), _ids(ids, table[1][0], random)), constants=(0,))


def _segment_sum(kernel: Signature, random: np.random.Generator) -> Recipe:
    data, (_, ids) = kernel.inputs[:2]
    rows = kernel.output[1][0]
    return Recipe(P.UnsortedSegmentSum(), (_float(data, random), _ids(ids, rows, random)), constants=(rows,))


def _tile(kernel: Signature, random: np.random.Generator) -> Recipe:
    before, after = kernel.inputs[0][1], kernel.output[1]
    times = tuple(new // old for old, new in zip(before, after, strict=True))
    return Recipe(P.Tile(), _floats(kernel.inputs[:1], random), constants=(times,))


def _concat(kernel: Signature, random: np.random.Generator) -> Recipe:
    first, after = kernel.inputs[0][1], kernel.output[1]
    axis = next(axis for axis, pair in enumerate(zip(first, after, strict=True)) if pair[0] != pair[1])
    return Recipe(P.Concat(axis), _floats(kernel.inputs, random), packed=True)


def _sum_of_all(kernel: Signature, random: np.random.Generator) -> Recipe:
    _refuse_other(kernel)
    return Recipe(P.AddN(), _floats(kernel.inputs, random), packed=True)


def _adam(kernel: Signature, random: np.random.Generator) -> Recipe:
    weight, momentum, variance = (_positive(tensor, random) for tensor in kernel.inputs[:3])
    powers = tuple(ms.Tensor(value, ms.float32) for value in (0.9, 0.999, 1e-3, 0.9, 0.999, 1e-8))
    gradient = _float(kernel.inputs[-1], random)
    return Recipe(P.Adam(), (*powers, gradient), parameters=(weight, momentum, variance))


def _momentum(kernel: Signature, random: np.random.Generator) -> Recipe:
    parameters = _floats(kernel.inputs[:2], random)
    rate, momentum = (ms.Tensor(value, ms.float32) for value in (1e-3, 0.9))
    gradient = _float(kernel.inputs[3], random)
    return Recipe(P.ApplyMomentum(), (rate, gradient, momentum), parameters=parameters)


def _sparse_cross_entropy(kernel: Signature, random: np.random.Generator) -> Recipe:
    scores, (_, labels) = kernel.inputs
    primitive = P.SparseSoftmaxCrossEntropyWithLogits(is_grad=bool(kernel.output[1]))
    return Recipe(primitive, (_float(scores, random), _ids(labels, scores[1][-1], random)))


def _cross_entropy(kernel: Signature, random: np.random.Generator) -> Recipe:
    scores = kernel.inputs[0]
    rows, classes = prod(scores[1][:-1]), scores[1][-1]
    labels = np.eye(classes, dtype=np.float32)[random.integers(0, classes, rows)].reshape(scores[1])
    return Recipe(P.SoftmaxCrossEntropyWithLogits(), (_float(scores, random), ms.Tensor(labels)))


_RECIPES: Mapping[str, Callable[[Signature, np.random.Generator], Recipe]] = MappingProxyType(
    {
        "Cast": _cast,
        **dict.fromkeys(("Div", "RealDiv", "Reciprocal"), _quotient),
        "ReluGrad": _rectifier_gradient,
        **dict.fromkeys(("MatMul", "BatchMatMul"), _matmul),
        "Conv2D": _convolution,
        "Conv2DBackpropInput": _convolution_input_gradient,
        "Conv2DBackpropFilter": _convolution_weight_gradient,
        "BatchNorm": _batch_norm,
        "BatchNormGrad": _batch_norm_gradient,
        "LayerNorm": _layer_norm,
        "LayerNormGrad": _layer_norm_gradient,
        "Transpose": _transpose,
        **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceAll"), _reduction),
        "Gather": _look_up,
        "UnsortedSegmentSum": _segment_sum,
        "Tile": _tile,
        "Concat": _concat,
        "AddN": _sum_of_all,
        "Adam": _adam,
        "ApplyMomentum": _momentum,
        "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
        "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    }
)
