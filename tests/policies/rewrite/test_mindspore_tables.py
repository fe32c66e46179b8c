"""What policies/ states about MindSpore without importing it, held against MindSpore itself."""

from typing import Any

import mindspore
from mindspore import nn, ops
from mindspore.ops import auto_generate
from mindspore.ops.operations import _inner_ops, array_ops, math_ops, nn_ops
from mindspore.train import amp

from halfwise.policies import BUILTIN, OP_CLASSES
from halfwise.policies.layer_types import LAYER_TYPES


def _names(primitives: list[Any]) -> set[str]:
    return {primitive.__name__ for primitive in primitives}


def test_the_auto_level_has_mindspores_lists():
    """The white and black list of the built-in policy `auto` are those of amp level "auto"."""
    assert set(BUILTIN["auto"].ops.white_list) == _names(amp.AMP_AUTO_WHITE_LIST)
    assert set(BUILTIN["auto"].ops.black_list) == _names(amp.AMP_AUTO_BLACK_LIST)


def test_level_o2_keeps_mindspores_black_list():
    """O2 keeps just the types of MindSpore's black list in float32."""
    kept = {pattern for pattern, precision in BUILTIN["O2"].layers.items() if precision == "float32"}
    assert kept == {f"nn.{kind.__name__}" for kind in amp.AMP_BLACK_LIST}


def test_level_o1_lowers_mindspores_white_list():
    """O1 lowers just the types and ops of MindSpore's white list, and none of their variants."""
    types = {f"nn.{kind.__name__}" for kind in amp.AMP_WHITE_LIST if issubclass(kind, nn.Cell)}
    primitives = _names([kind for kind in amp.AMP_WHITE_LIST if not issubclass(kind, nn.Cell)])
    layers = BUILTIN["O1"].layers
    lowered = {pattern for pattern, precision in layers.items() if precision == "float16"}
    assert lowered == types | {f"**::{op}" for op in primitives}
    assert set(layers) - lowered == {
        *("**::BatchMatMulExt", "**::Conv2DExt", "**::Conv3DExt", "**::MatMulExt", "**::Mm"),
    }


def test_every_op_of_the_table_exists():
    """Each name in the op table is a primitive of this MindSpore, or listed as one of another version."""
    modules = (auto_generate, nn_ops, math_ops, array_ops, _inner_ops, ops.operations)
    known = {
        value.__name__
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, ops.Primitive)
    }
    assert sorted(set(OP_CLASSES) - known) == []


def test_every_layer_type_exists():
    """Each `nn.` name that a rule may use is a Cell of this MindSpore."""
    missing = [name for name in LAYER_TYPES if not hasattr(mindspore.nn, name.removeprefix("nn."))]
    assert missing == []
