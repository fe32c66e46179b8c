"""A policy as the lists of op types that CANN takes as `modify_mixlist`, for its mixed-precision modes.

The format: https://www.hiascend.com/document/detail/en/canncommercial/800/devaids/atc/atlasatcparam_16_0071.html
"""

import json
from collections.abc import Mapping
from types import MappingProxyType

from .amp_lists import is_low, low_precision_of
from .form import Exported
from .subject import OpAsked, Subject, layer_words

OP_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "GeLU": "Gelu",
        "LogSoftmax": "LogSoftmaxV2",
        "MatMul": "MatMulV2",
        "PReLU": "PRelu",
        "ReLU": "Relu",
        "Softmax": "SoftmaxV2",
        **{
            name: name
            for name in (
                *("AvgPool", "BatchMatMul", "BatchNorm", "BiasAdd", "Conv2D", "Elu", "MaxPool", "Maximum"),
                *("Mul", "ReduceMean", "Sigmoid"),
            )
        },
    }
)
"""MindSpore's primitives to Ascend's op types.

From the adapters in MindSpore's own source (`REG_ADPT_DESC` under transform/graph_ir/op_declare).
"""


def mixlist(subject: Subject) -> Exported:
    """JSON: `to-add` for the white list (may go low) and the black list (stays in float32), by op type.

    An op type that is float32 in any layer is black: a list knows no layers. One that follows its inputs wherever
    it stands is left where CANN has it. Nothing of this was run on an Ascend.

    Raises:
        InputError: the policy is for another network, or asks for float16 and bfloat16 both.
    """
    by_op: dict[str, list[OpAsked]] = {}
    for each in subject.ops():
        by_op.setdefault(each.op, []).append(each)
    everything = [each for found in by_op.values() for each in found]
    precision = low_precision_of(everything, subject.policy.low_precision)
    black = sorted(op for op, found in by_op.items() if any(each.precision == "float32" for each in found))
    white = sorted(op for op, found in by_op.items() if op not in black and any(map(is_low, found)))
    document = {
        "black-list": {"to-add": [_op_type(op) for op in black]},
        "white-list": {"to-add": [_op_type(op) for op in white]},
    }
    lost = [line for op in sorted(by_op) for line in _lost(op, by_op[op], op in black)]
    unsure = sorted({*black, *white} - OP_TYPES.keys())
    if unsure:
        lost.append(f"under MindSpore's own names, as Ascend's are not known here: {', '.join(unsure)}")
    lost.append(f"the lists work under precision_mode_v2=mixed_{precision} only, and were not tried on an Ascend")
    lost.append(f"loss scaling is not in the lists: the policy asks for {subject.policy.loss_scaling.label}")
    return Exported(json.dumps(document, indent=2) + "\n", lost)


def _op_type(op: str) -> str:
    return OP_TYPES.get(op, op)


def _lost(op: str, found: list[OpAsked], is_black: bool) -> list[str]:
    low = [layer_words(each.cell.path) for each in found if is_low(each)]
    following = [layer_words(each.cell.path) for each in found if each.precision is None]
    if is_black and low:
        return [f"{op} is float32 in some layers, so it is in all: lost is the low precision of {', '.join(low)}"]
    if following and low:
        return [f"{op} goes low everywhere, though it only follows its inputs in {', '.join(following)}"]
    if following and not is_black:
        return [f"{op} follows its inputs: it is left where CANN has it"]
    return []
