"""What differs between two policies: field by field, op by op in the compiled step, and in the price."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..policies import Policy

DIRECTIONS = ("forward", "loss", "gradient")


@dataclass(frozen=True)
class FieldChange:
    """One entry of a policy: `before` and `after` in words, None where it is not there."""

    field: str
    name: str | None
    before: str | None
    after: str | None


@dataclass(frozen=True)
class OpChange:
    """The ops of one kind in one layer that compute in something else, as asked; with several, each counted."""

    layer: str
    op: str
    directions: tuple[str, ...]
    before: str
    after: str


def field_changes(a: Policy, b: Policy) -> tuple[FieldChange, ...]:
    """What stands in the files; reasons, results and other provenance change nothing and are left out."""
    plain = (
        ("default", a.default, b.default),
        ("low_precision", a.low_precision, b.low_precision),
        ("mode", a.mode, b.mode),
        ("loss_scaling", a.loss_scaling.label, b.loss_scaling.label),
    )
    changed = [FieldChange(field, None, before, after) for field, before, after in plain if before != after]
    return (*changed, *_rules(a, b), *_lists(a, b))


def op_changes(a: pd.DataFrame, b: pd.DataFrame) -> tuple[OpChange, ...]:
    """Between the op tables of two policies on one workload, in the order of the layers' first ops in `a`."""
    before, after = _precisions(a), _precisions(b)
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for layer, op, direction in dict.fromkeys((*before, *after)):
        was, now = (_words(side.get((layer, op, direction), Counter())) for side in (before, after))
        if was != now:
            found.setdefault((layer, op, was, now), []).append(direction)
    return tuple(
        OpChange(layer, op, tuple(sorted(directions, key=DIRECTIONS.index)), was, now)
        for (layer, op, was, now), directions in found.items()
    )


def _rules(a: Policy, b: Policy) -> Iterator[FieldChange]:
    for pattern in dict.fromkeys((*a.layers, *b.layers)):
        before, after = a.layers.get(pattern), b.layers.get(pattern)
        if before != after:
            yield FieldChange("layers", pattern, before, after)


def _lists(a: Policy, b: Policy) -> Iterator[FieldChange]:
    before, after = _list_of(a), _list_of(b)
    for op in sorted(before.keys() | after.keys()):
        if before.get(op) != after.get(op):
            yield FieldChange("ops", op, before.get(op), after.get(op))


def _list_of(policy: Policy) -> dict[str, str]:
    lists = policy.ops
    return {**dict.fromkeys(lists.white_list, "white list"), **dict.fromkeys(lists.black_list, "black list")}


def _precisions(table: pd.DataFrame) -> dict[tuple[str, str, str], Counter[str]]:
    """How many ops compute in each precision, by layer, op and direction."""
    own = table[table["layer"].notna() & table["direction"].isin(DIRECTIONS)]
    computed = own["compute_precision"].replace(np.nan, None)
    found: dict[tuple[str, str, str], Counter[str]] = {}
    for layer, op, direction, precision in zip(own["layer"], own["op"], own["direction"], computed, strict=True):
        if precision is not None:
            found.setdefault((layer, op, direction), Counter())[precision] += 1
    return found


def _words(count: Counter[str]) -> str:
    if len(count) == 1:
        return next(iter(count))
    return ", ".join(f"{count[precision]} {precision}" for precision in sorted(count)) or "not there"
