"""Layers of a policy moved to safer precisions, and nothing else of it."""

from collections.abc import Iterable, Iterator, Mapping

from .outline import CellOutline, NetworkOutline
from .outline_index import OutlineIndex
from .policy import Policy
from .precision import LowPrecision, Precision, RulePrecision
from .resolve import Assignment, resolve

_SAFETY: Mapping[Precision, int] = {"float16": 0, "bfloat16": 1, "float32": 2}


def safer(assignment: Assignment, low_precisions: Iterable[LowPrecision]) -> Precision | None:
    """The next safer precision for a layer, by the lowest one in it; None where all of it is float32.

    float16 goes to bfloat16 if that is among the device's `low_precisions`, else to float32, and so does bfloat16:
    what overflows in float16 fits bfloat16. `auto` goes to float32.
    """
    if assignment.precision == "auto":
        return "float32"
    lowest = min((assignment.precision, *assignment.op_precisions.values()), key=_SAFETY.__getitem__)
    if lowest == "float32":
        return None
    return "bfloat16" if lowest == "float16" and "bfloat16" in low_precisions else "float32"


def raised(policy: Policy, outline: NetworkOutline, floors: Mapping[str, Precision]) -> Policy:
    """The policy with some layers, named by path, in their floor or what is safer; the others compute as before.

    A layer is a Cell without the Cells in it: where a rule would reach those too, they get rules of their own with
    what they had. Every rule that is added is exact. Ops of the layer that have rules of their own are raised with
    it. A layer that is `auto` becomes float32.

    Raises:
        InputError: the policy does not fit the network.
        KeyError: there is no such layer.
    """
    before = {assignment.path: assignment for assignment in resolve(policy, outline)}
    wanted = {path: _at_least(before[path], floor) for path, floor in floors.items()}
    changed = {path: asked for path, asked in wanted.items() if asked != _asked(before[path])}
    rules = dict(policy.layers)
    for cell in _reached(outline, changed):
        if any(name not in policy.layers for name in cell.names):
            rules |= _exact(cell.names, *_asked(before[cell.path]))
    for path, asked in changed.items():
        assignment = before[path]
        rules |= _exact((assignment.path, *assignment.aliases), *asked)
    return policy.replace(layers=rules)


def _asked(assignment: Assignment) -> tuple[RulePrecision, dict[str, Precision]]:
    return assignment.precision, dict(assignment.op_precisions)


def _at_least(assignment: Assignment, floor: Precision) -> tuple[RulePrecision, dict[str, Precision]]:
    least: Precision = "float32" if assignment.precision == "auto" else floor
    own = least if assignment.precision == "auto" else _safest(least, assignment.precision)
    return own, {op: _safest(least, precision) for op, precision in assignment.op_precisions.items()}


def _safest(*precisions: Precision) -> Precision:
    return max(precisions, key=_SAFETY.__getitem__)


def _exact(
    names: Iterable[str], precision: RulePrecision, ops: Mapping[str, Precision]
) -> dict[str, RulePrecision]:
    """Rules that name a layer under each of its names, and what the ops in it with rules of their own ask."""
    rules: dict[str, RulePrecision] = {}
    for name in names:
        rules[name or "."] = precision
        rules.update({f"{name}::{op}": asked for op, asked in ops.items()})
    return rules


def _reached(outline: NetworkOutline, paths: Mapping[str, object]) -> Iterator[CellOutline]:
    """The layers that rules for these would reach: those right below under one of their names.

    And all shared ones further down: what decides for them may come through their other names.
    """
    index = OutlineIndex(outline)
    above = {name for cell in outline.cells if cell.path in paths for name in cell.names}
    for cell, numbers in zip(outline.cells, index.of_cell, strict=True):
        holders = {index.names[index.holders[number]] for number in numbers if index.holders[number] >= 0}
        if above & holders or (cell.aliases and any(_is_below(name, above) for name in cell.names)):
            yield cell


def _is_below(name: str, above: Iterable[str]) -> bool:
    return name != "" and any(other == "" or name.startswith(f"{other}.") for other in above)
