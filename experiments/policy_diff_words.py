"""Two policies side by side in words, for the terminal."""

from collections.abc import Iterator, Sequence

from ..evaluators.inspection_result import Pricing
from .policy_diff import FieldChange, OpChange


def field_lines(changes: Sequence[FieldChange]) -> Iterator[str]:
    """One line an entry of the files: what was, what is."""
    if not changes:
        yield "the policies ask the same, entry by entry"
    for each in changes:
        what = each.field if each.name is None else f"{each.field} {each.name}"
        yield f"  {what}: {each.before or 'nothing'} -> {each.after or 'nothing'}"


def op_lines(workload: str, changes: Sequence[OpChange]) -> Iterator[str]:
    """One line for the ops of one kind in a layer that compute in something else, as asked of any device."""
    layers = len({each.layer for each in changes})
    if not changes:
        yield f"on {workload} every op is asked the same"
        return
    compute = "layer computes" if layers == 1 else "layers compute"
    yield f"on {workload} {layers} {compute} something else, as asked:"
    for each in changes:
        where = each.layer or "the network itself"
        yield f"  {where}: {each.op} {each.before} -> {each.after} ({', '.join(each.directions)})"


def price_lines(a: Pricing, b: Pricing) -> Iterator[str]:
    """The two prices, with what the second one makes of the first."""
    yield f"priced on {a.device}, not measured:"
    yield (
        f"  step: {a.step_time_s * 1e3:.3f} ms -> {b.step_time_s * 1e3:.3f} ms, "
        f"{a.step_time_s / b.step_time_s:.2f}x the speed"
    )
    yield f"  casts: {a.casts} -> {b.casts}, {a.cast_share:.1%} -> {b.cast_share:.1%} of the step"
    yield f"  memory, at least: {a.memory_bytes / 2**20:.0f} MiB -> {b.memory_bytes / 2**20:.0f} MiB"
