"""Sensitivities in words, for the terminal: the likeliest harm first."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..evaluators.sensitivity.result import Sensitivity
from ..policies import FORMATS, LOW_PRECISIONS, LowPrecision
from ..policies.rules import Belief, GroupStatistics, believe

_COLUMNS = ("group", "float16", "bfloat16", "largest", "headroom", "lost", "moved", "why not float16")
_LEGEND = (
    "float16, bfloat16: probability of harm, worked out by rules from the figures; never a measured frequency.",
    "largest: absolute value in float32, gradients without loss scale. headroom: doublings from it to float16's.",
    "lost: share of the gradient that float16 makes 0, loss scale included. moved: by how much of its length the",
    "gradient of one step moved with only this in float16.",
)


@dataclass(frozen=True)
class Row:
    """A group, or one op of it, and the belief for each precision."""

    group: GroupStatistics
    beliefs: dict[LowPrecision, Belief]

    @property
    def name(self) -> str:
        """As people know it: the network itself has no path."""
        return self.group.name or "(the network itself)"

    @property
    def probability(self) -> float:
        """Of harm in float16."""
        return self.beliefs["float16"].probability


def rows(found: Sensitivity) -> list[Row]:
    """Groups by falling probability of harm in float16.

    A group that was taken apart is shown by its ops, and itself too only where none of them explains its harm.
    """
    shown: list[Row] = []
    for group in found.groups:
        whole, parts = _row(group), [_row(part) for part in found.parts_of(group.name)]
        explained = max((part.probability for part in parts), default=0.0) >= 0.5 * whole.probability
        shown += parts if explained else [whole, *parts]
    return sorted(shown, key=lambda row: (-row.probability, row.name))


def sensitivity_lines(found: Sensitivity) -> Iterator[str]:
    """A table, its legend, what it cost and what is missing."""
    steps = ", ".join(map(str, found.collected_steps))
    where = f"{found.workload} on {found.device}"
    yield f"{where}: float32 values at steps {steps}, loss scale {found.loss_scale:g}"
    table = [_COLUMNS, *(_cells(row) for row in rows(found))]
    widths = [max(len(line[place]) for line in table) for place in range(len(_COLUMNS))]
    for line in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
    yield from _LEGEND
    yield f"{found.steps_run} steps, {found.float32_time_s + found.alone_time_s:.1f} s: {_cost(found)}"
    yield from (f"note: {note}" for note in found.notes)


def largest(group: GroupStatistics) -> float:
    """The largest absolute value of all the group's tensors, 0 if it has none."""
    return max((tensor.largest for op in group.ops for tensor in op.tensors), default=0.0)


def _row(group: GroupStatistics) -> Row:
    return Row(group, {precision: believe(group, precision) for precision in LOW_PRECISIONS})


def _cells(row: Row) -> tuple[str, ...]:
    value = largest(row.group)
    headroom = f"{math.log2(FORMATS['float16'].max / value):.1f}" if value else ""
    lost = [
        t.below_subnormal_scaled
        for op in row.group.ops
        for t in op.tensors
        if t.below_subnormal_scaled is not None
    ]
    return (
        row.name,
        *(f"{row.beliefs[precision].probability:.3f}" for precision in LOW_PRECISIONS),
        f"{value:.3g}",
        headroom,
        f"{max(lost):.1%}" if lost else "",
        _moved(row.group),
        row.beliefs["float16"].reason,
    )


def _moved(group: GroupStatistics) -> str:
    effect = group.alone_in("float16")
    if effect is None:
        return "not tried"
    return "not finite" if effect.gradient_distance is None else f"{effect.gradient_distance:.2g}"


def _cost(found: Sensitivity) -> str:
    # Without an update a pass is less than a step, but it is counted as one.
    run = found.collected_steps[-1] + 1 if found.collected_steps else 0
    return (
        f"{run} in float32 ({found.float32_time_s:.1f} s, compilation and reading included), "
        f"{found.steps_run - run} passes alone ({found.alone_time_s:.1f} s)"
    )
