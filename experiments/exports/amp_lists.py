"""A policy as MindSpore's own white list, by class of layer and by primitive: what amp level O1 takes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ...policies import InputError
from ...policies.canonical import printable
from ...policies.layer_types import LAYER_TYPES
from .form import Exported
from .subject import OpAsked, Subject, layer_words

_TEXT = '''\
"""MindSpore's amp lists for a precision policy. Written by `halfwise export`.

    network = lower(network)  # before the training step is built around it

MindSpore does this by rewriting source, and leaves out without a word what it cannot read.
"""

import mindspore as ms
from mindspore import amp, nn
from mindspore.ops import auto_generate, operations


def primitive(name):
    """The class of a primitive."""
    return getattr(operations, name, None) or getattr(auto_generate, name)


# The policy {title}.
# Classes of layers and primitives that compute in the low precision; all else stays in float32.
WHITE_LIST = [
{entries}]


def lower(network):
    """The network with casts around what the list names, as amp level O1 sets them."""
    return amp.custom_mixed_precision(network, white_list=WHITE_LIST, dtype=ms.{precision})
'''


def amp_lists(subject: Subject) -> Exported:
    """A Python file that calls `mindspore.amp.custom_mixed_precision`.

    A class of MindSpore's own layers is listed where all ops of all such layers are asked to be low, a primitive
    where that holds in all of the user's own layers. Whatever the list cannot tell apart stays in float32 and is
    named as lost.

    Raises:
        InputError: the policy is for another network, or asks for float16 and bfloat16 both.
    """
    asked = list(subject.ops())
    precision = low_precision_of(asked, subject.policy.low_precision)
    by_type = _grouped((_layer_type(each), each) for each in asked if _layer_type(each))
    by_op = _grouped((each.op, each) for each in asked if not _layer_type(each))
    classes = [name for name, found in by_type.items() if all(map(is_low, found))]
    primitives = [name for name, found in by_op.items() if all(map(is_low, found))]
    entries = [*sorted(classes), *(f'primitive("{name}")' for name in sorted(primitives))]
    lost = [
        *_partly({name: _by_cell(found) for name, found in by_type.items() if name not in classes}),
        *_partly({name: found for name, found in by_op.items() if name not in primitives}),
        *_everywhere(primitives, by_type),
        f"loss scaling is not in the lists: the policy asks for {subject.policy.loss_scaling.label}",
    ]
    text = _TEXT.format(
        title=printable(f"{subject.title}, on {subject.survey.workload}").replace("\n", " "),
        entries="".join(f"    {entry},\n" for entry in entries),
        precision=precision,
    )
    return Exported(text, lost)


def low_precision_of(asked: Iterable[OpAsked], otherwise: str) -> str:
    """The one low precision that is asked for.

    Raises:
        InputError: there are two.
    """
    low = sorted({str(each.precision) for each in asked if is_low(each)})
    if len(low) > 1:
        raise InputError(f"the lists hold one low precision, but the policy asks for {' and '.join(low)}")
    return low[0] if low else otherwise


def is_low(asked: OpAsked) -> bool:
    """Whether the op is asked for float16 or bfloat16."""
    return asked.precision not in (None, "float32")


def _layer_type(asked: OpAsked) -> str | None:
    """The layer's class, where it is one that MindSpore brings."""
    nearest = asked.cell.type_names[0] if asked.cell.type_names else None
    return nearest if nearest in LAYER_TYPES else None


def _grouped(pairs: Iterable[tuple[str | None, OpAsked]]) -> dict[str, list[OpAsked]]:
    found: dict[str, list[OpAsked]] = {}
    for name, each in pairs:
        found.setdefault(str(name), []).append(each)
    return found


def _by_cell(asked: Iterable[OpAsked]) -> list[OpAsked]:
    """One op for each layer: a low one only where all of them are."""
    found: dict[str, OpAsked] = {}
    for each in asked:
        if each.cell.path not in found or not is_low(each):
            found[each.cell.path] = each
    return list(found.values())


def _partly(groups: Mapping[str, list[OpAsked]]) -> Iterator[str]:
    """What is low in some layers, and not in the list."""
    for name, found in sorted(groups.items()):
        low = [layer_words(each.cell.path) for each in found if is_low(each)]
        if low:
            counted = Counter(each.precision or "what it gets" for each in found)
            words = ", ".join(f"{count} in {precision}" for precision, count in sorted(counted.items()))
            left = ", ".join(low)
            yield f"{name} computes {words}, which a list cannot tell apart: {left} would stay in float32"


def _everywhere(primitives: Iterable[str], by_type: Mapping[str, list[OpAsked]]) -> Iterator[str]:
    """Layers of MindSpore's own that are asked for float32 and hold a listed primitive."""
    for primitive in sorted(primitives):
        found = [
            layer_words(each.cell.path)
            for cells in by_type.values()
            for each in cells
            if each.op == primitive and each.precision == "float32"
        ]
        if found:
            yield f"{primitive} is in the list, and goes low in {', '.join(found)} too"
