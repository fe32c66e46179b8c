"""Compares the op table with the policy: does every op compute in what was asked of its layer?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from ...policies.ops import OP_CLASSES, family, variants
from ...policies.policy import Policy
from ...policies.precision import Precision
from ...policies.regions import Region, region_of
from ...policies.resolve import Assignment

# These take their scale and statistics in float32, and only their data in the asked precision.
_DATA_FIRST = frozenset({"normalization", "inplace_normalization", "loss"})

Reason = Literal["layer", "black list", "op rule", "loss"]


@dataclass(frozen=True)
class Mismatch:
    """An op that does not compute in what the policy asks; `op` is its name in the graph."""

    layer: str
    op: str
    asked: str
    got: str | None
    why: str


@dataclass(frozen=True)
class Proof:
    """What the comparison found.

    `matched` counts the ops, forward and gradient, that are as asked. `idle` are the entries of the policy's lists
    that name no op of this step, so that they change nothing. `summary` is for people.
    """

    matched: int
    mismatched: tuple[Mismatch, ...]
    idle: tuple[str, ...]
    summary: str

    @property
    def holds(self) -> bool:
        """Whether every op that was compared is as asked."""
        return not self.mismatched


@dataclass(frozen=True)
class _Asked:
    precision: Precision
    reason: Reason


def prove(table: pd.DataFrame, assignments: Sequence[Assignment], policy: Policy) -> Proof:
    """Compare each float op of the forward pass, and its gradient ops, with what the policy asks of its layer.

    Matrix, element-wise, reduction and movement ops are as asked when all their floats are; normalisations when
    their data is. In a layer under `auto`, ops on neither list follow their inputs and are not compared; nor are
    casts and what the op table of policies does not hold. An op that several layers share (see `layer_certain`) is
    as asked if it is for one of them.
    """
    asking = _Asking(assignments, policy)
    forward = table[(table["direction"] == "forward") & ~table["is_cast"].astype(bool)]
    governed = forward[forward["graph_op"].isin(OP_CLASSES) & forward["layer"].notna()]
    rows = [row for row in governed.to_dict("records") if row["compute_precision"]]
    asked = {row["id"]: found for row in rows if (found := asking.of(row, table))}
    compared = [(row, asked[row["id"]]) for row in rows if row["id"] in asked]
    compared_back = [(row, asked[row["forward_id"]]) for row in _gradients(table, asked)]
    wrong = [(row, want) for row, want in compared if not _as_asked(row, want.precision)]
    wrong += [(row, want) for row, want in compared_back if row["compute_precision"] != want.precision]
    mismatched = tuple(_mismatch(row, want) for row, want in wrong)
    return Proof(
        matched=len(compared) + len(compared_back) - len(mismatched),
        mismatched=mismatched,
        idle=_idle(policy, assignments, {row["graph_op"] for row in rows}),
        summary=_summary(compared, len(mismatched), len(rows) - len(compared), table.attrs.get("device", "")),
    )


class _Asking:
    """What the policy asks of an op of the table, looked up by layer and op."""

    def __init__(self, assignments: Sequence[Assignment], policy: Policy) -> None:
        self._black_list = frozenset(name for op in policy.ops.black_list for name in variants(op))
        self._assignments = {assignment.path: assignment for assignment in assignments}
        self._regions: Mapping[str, Region] = {a.path: region_of(a, policy) for a in assignments}
        self._white = {path: frozenset(region.white_list) for path, region in self._regions.items()}
        self._black = {path: frozenset(region.black_list) for path, region in self._regions.items()}

    def of(self, row: Mapping[str, Any], table: pd.DataFrame) -> _Asked | None:
        """None where the op follows its inputs."""
        layers = [row["layer"]]
        if not row["layer_certain"]:
            layers += [table.at[consumer, "layer"] for consumer in row["consumers"]]
        answers = [self._in_layer(layer, row["graph_op"]) for layer in layers if layer in self._regions]
        fitting = [answer for answer in answers if answer and _as_asked(row, answer.precision)]
        return next(iter(fitting or answers), None)

    def _in_layer(self, layer: str, op: str) -> _Asked | None:
        region, rules = self._regions[layer], self._assignments[layer].op_precisions
        reason: Reason = "op rule" if op in rules or family(op) in rules else "layer"
        if op in self._black[layer]:
            if reason == "layer" and op in self._black_list:
                reason = "black list"
            elif reason == "layer" and OP_CLASSES.get(op) == "loss":
                reason = "loss"
            return _Asked("float32", reason)
        lowered_data = region.border == region.precision and OP_CLASSES.get(op) == "inplace_normalization"
        return _Asked(region.precision, reason) if op in self._white[layer] or lowered_data else None


def _gradients(table: pd.DataFrame, asked: Mapping[int, _Asked]) -> list[dict[str, Any]]:
    """The float gradient ops of ops that are compared."""
    back = table[(table["direction"] == "gradient") & ~table["is_cast"].astype(bool)]
    return [row for row in back.to_dict("records") if row["forward_id"] in asked and row["compute_precision"]]


def _as_asked(row: Mapping[str, Any], precision: Precision) -> bool:
    floats = [found for found in row["input_precisions"] if found]
    if OP_CLASSES.get(row["graph_op"]) in _DATA_FIRST:
        floats = floats[:1]
    return all(found == precision for found in floats) and row["output_precision"] in (None, precision)


def _mismatch(row: Mapping[str, Any], want: _Asked) -> Mismatch:
    floats = [found for found in row["input_precisions"] if found]
    got = next((p for p in (*floats, row["output_precision"]) if p and p != want.precision), None)
    part = "" if row["direction"] == "forward" else "its gradient: "
    taken = ", ".join(str(found) for found in floats) or "no float"
    why = f"{part}asked by the {want.reason}; takes {taken}, gives {row['output_precision']}"
    return Mismatch(row["layer"] or "", row["graph_op"], want.precision, got, why)


def _idle(policy: Policy, assignments: Iterable[Assignment], present: set[str]) -> tuple[str, ...]:
    named = {*policy.ops.white_list, *policy.ops.black_list}
    named |= {op for assignment in assignments for op in assignment.op_precisions}
    return tuple(sorted(op for op in named if not present.intersection(variants(op))))


def _summary(compared: Sequence[tuple[Mapping[str, Any], _Asked]], wrong: int, following: int, device: str) -> str:
    low = [row for row, want in compared if want.precision != "float32"]
    total = len(compared) + following
    if total == 0:
        return "asked: no op of the network computes floats, so no policy changes this step"
    precision = next((want.precision for _, want in compared if want.precision != "float32"), None)
    words = [
        f"asked: {len(low)} of {total} ops {precision}"
        if precision
        else f"asked: none of {total} ops below float32"
    ]
    kept = [want.reason for _, want in compared if want.precision == "float32"]
    for reason, by in (("black list", "the black list"), ("op rule", "rules for ops"), ("layer", "their layers")):
        if reason in kept:
            words.append(f"{kept.count(reason)} kept float32 by {by}")
    if following:
        words.append(f"{following} follow their inputs")
    if wrong:
        words.append(f"{wrong} not as asked")
    return ", ".join(words) + _kernels(low, device)


def _kernels(low: Sequence[Mapping[str, Any]], device: str) -> str:
    """What this device makes of the ops that are low."""
    if not low:
        return ""
    raised = sum(row["kernel_precision"] == "float32" for row in low)
    unknown = sum(row["kernel_precision"] is None for row in low)
    words = f"; on this {device or 'device'} {raised} of the {len(low)} run float32 kernels behind casts"
    return words + (f", for {unknown} no kernel could be matched" if unknown else "")
