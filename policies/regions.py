"""What MindSpore's autocast has to be told so that a Cell computes in what its assignment asks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from .errors import InputError
from .ops import OP_CLASSES, variants
from .policy import Policy
from .precision import LowPrecision, Precision
from .resolve import Assignment

INPLACE_NORMALIZATION_OPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "nn.BatchNorm1d": ("BatchNorm",),
        "nn.BatchNorm2d": ("BatchNorm",),
        "nn.BatchNorm3d": ("BatchNorm",),
        "nn.SyncBatchNorm": ("BatchNorm", "SyncBatchNorm"),
        "nn.InstanceNorm1d": ("InstanceNorm",),
        "nn.InstanceNorm2d": ("InstanceNorm",),
        "nn.InstanceNorm3d": ("InstanceNorm",),
    }
)
"""The layers whose op can't be white-listed, because it updates the layer's statistics, and that op."""

ROUNDING_NORMALIZATION_OPS: Mapping[str, str] = MappingProxyType(
    {"nn.LayerNorm": "LayerNorm", "nn.GroupNorm": "GroupNorm"}
)
"""The layers that cast their own scale and shift to the type of what enters them, and their op."""

_LOSSES = tuple(op for op, op_class in OP_CLASSES.items() if op_class == "loss")


@dataclass(frozen=True)
class Region:
    """One autocast region, for one Cell.

    White-listed ops cast their float inputs down to `precision`, black-listed ones up to float32; the others
    run in the type of their inputs. `border` is the precision that the Cell's own inputs are cast to before
    anything else, None where they enter as they are.
    """

    precision: LowPrecision
    white_list: tuple[str, ...]
    black_list: tuple[str, ...]
    border: Precision | None


@dataclass(frozen=True)
class AskedOps:
    """The precision asked of each op of a Cell that doesn't follow its inputs, and the low one among them.

    `low` is the policy's own low precision where no op is asked to be low. Cells of any class share it: what a
    Cell's class changes is its border.
    """

    precisions: Mapping[str, Precision]
    low: LowPrecision

    def is_white(self, op: str) -> bool:
        """Whether the op is cast down; in-place normalisations never are: they follow their data."""
        asked = self.precisions.get(op, "float32")
        return asked != "float32" and OP_CLASSES[op] != "inplace_normalization"

    def is_black(self, op: str) -> bool:
        """Whether the op is cast up."""
        return self.precisions.get(op) == "float32"


def region_of(assignment: Assignment, policy: Policy) -> Region:
    """The region that gives a Cell what is asked of it.

    A float32 or low-precision region lists every op of the op table, since unlisted ops would follow their
    inputs. In-place normalisations are never white: in a low-precision Cell they follow their data.

    Raises:
        InputError: the Cell is asked for float16 and bfloat16 both; a region holds one of them.
    """
    asked = asked_ops(assignment, policy)
    return Region(
        precision=asked.low,
        white_list=tuple(sorted(filter(asked.is_white, asked.precisions))),
        black_list=tuple(sorted(filter(asked.is_black, asked.precisions))),
        border=border_of(assignment, asked),
    )


def asked_ops(assignment: Assignment, policy: Policy) -> AskedOps:
    """What is asked of the Cell's ops: by its precision and the ops' own rules, whatever its class.

    Raises:
        InputError: as `region_of`.
    """
    asked = _asked(assignment, policy)
    low = set(asked.values()) - {"float32"}
    if len(low) > 1:
        raise InputError(_two_low_precisions(assignment, policy))
    return AskedOps(asked, cast("LowPrecision", low.pop()) if low else policy.low_precision)


def border_of(assignment: Assignment, asked: AskedOps) -> Precision | None:
    """The precision that the Cell's own inputs are cast to first; None where they enter as they are.

    In-place normalisations get low data at the border, where they are asked to be low.

    LayerNorm and GroupNorm in float32 get float32 data there: inside, their scale would already have been
    rounded to the type of what entered. Under auto they are left to MindSpore's own lists, as it does itself.
    """
    inplace = [op for name in assignment.type_names for op in INPLACE_NORMALIZATION_OPS.get(name, ())]
    wanted: list[Precision] = [asked.precisions[op] for op in inplace if op in asked.precisions]
    if wanted and all(precision != "float32" for precision in wanted):
        return wanted[0]
    rounding = {ROUNDING_NORMALIZATION_OPS.get(name) for name in assignment.type_names}
    if assignment.precision != "auto" and any(asked.is_black(op or "") for op in rounding):
        return "float32"
    return None


def _asked(assignment: Assignment, policy: Policy) -> dict[str, Precision]:
    """The precision asked of every op that doesn't follow its inputs; the later entries win."""
    if assignment.precision == "auto":
        asked = _spread(_each(policy.ops.white_list, policy.low_precision) | _each(policy.ops.black_list))
    else:
        asked = _each(OP_CLASSES, assignment.precision)
        if assignment.precision != "float32":
            asked |= _each(_LOSSES) | _spread(_each(policy.ops.black_list))
    return asked | _spread(assignment.op_precisions)


def _each(ops: Iterable[str], precision: Precision = "float32") -> dict[str, Precision]:
    return dict.fromkeys(ops, precision)


def _spread(precisions: Mapping[str, Precision]) -> dict[str, Precision]:
    """The same for the other names of each op, unless such a name has an entry of its own."""
    by_family: dict[str, Precision] = {
        name: precision for op, precision in precisions.items() for name in variants(op)
    }
    by_family.update(precisions)
    return by_family


def _two_low_precisions(assignment: Assignment, policy: Policy) -> str:
    rules = [
        f"{assignment.op_rules[op]!r} ({precision})"
        for op, precision in assignment.op_precisions.items()
        if precision != "float32"
    ]
    if assignment.precision == "auto" and policy.ops.white_list:
        rules.append(f"the white list ({policy.low_precision})")
    elif assignment.precision not in ("auto", "float32"):
        rules.append(f"{assignment.rule!r} ({assignment.precision})")
    layer = repr(assignment.path) if assignment.path else "the network itself"
    return f"layers: {layer} can hold one low precision, but float16 and bfloat16 are asked by {', '.join(rules)}"
