"""The strip of a report: what each layer computes in, under each policy of the front, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import pandas as pd

from ...policies import Policy
from ...policies.errors import InputError
from ...policies.resolve import Assignment, Resolver

SEVERAL, UNKNOWN = "several", "not known"
"""Beside the precisions: ops of one layer differ; the layer computes nothing in that step."""


@dataclass(frozen=True)
class Cell:
    """One layer under one policy: its precision, the ops in each, the rules that decide and why they are there."""

    precision: str
    ops: str = ""
    rules: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """All of it in a line or a few."""
        rules = f"decided by {', '.join(self.rules)}" if self.rules else ""
        return "\n".join(filter(None, (self.ops or self.precision, rules, *self.reasons)))


@dataclass(frozen=True)
class StripRow:
    """Layers in a row that compute in the same under every policy, for the same reasons."""

    first: str
    last: str
    layers: int
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """The layer, or the first and last of several."""
        return _shown(self.first) if self.layers == 1 else f"{_shown(self.first)} … {_shown(self.last)}"


def precisions_of(table: pd.DataFrame) -> dict[str, Cell]:
    """What each layer's forward ops compute in as asked, by path, in the order of the step."""
    own = table[table["layer"].notna() & (table["direction"] == "forward") & table["compute_precision"].notna()]
    found: dict[str, dict[str, dict[str, None]]] = {}
    for layer, op, precision in zip(own["layer"], own["op"], own["compute_precision"], strict=True):
        found.setdefault(str(layer), {}).setdefault(str(precision), {})[str(op)] = None
    return {layer: _cell(ops) for layer, ops in found.items()}


def explained(
    cells: Mapping[str, Cell], policy: Policy, resolver: Resolver, reasons: Mapping[str, str]
) -> dict[str, Cell]:
    """The cells with the rules of the policy that decide, and the reasons of these rules.

    A policy that does not fit the network (its survey is another's) explains nothing.
    """
    try:
        decided = {name: each for each in resolver.resolve(policy) for name in (each.path, *each.aliases)}
    except InputError:
        return dict(cells)
    return {layer: _explained(cell, decided.get(layer), reasons) for layer, cell in cells.items()}


def strip(policies: Sequence[Mapping[str, Cell]]) -> tuple[StripRow, ...]:
    """One row a layer, or for several in a row that are alike; layers stand in the order of the step."""
    unknown = Cell(UNKNOWN)
    layers = dict.fromkeys(layer for policy in policies for layer in policy)
    rows = [(layer, tuple(policy.get(layer, unknown) for policy in policies)) for layer in layers]
    return tuple(_joined(list(group)) for _, group in groupby(rows, key=lambda each: _alike(each[1])))


def _cell(ops: Mapping[str, Mapping[str, None]]) -> Cell:
    words = "; ".join(f"{precision}: {', '.join(names)}" for precision, names in sorted(ops.items()))
    return Cell(next(iter(ops)) if len(ops) == 1 else SEVERAL, words)


def _explained(cell: Cell, decided: Assignment | None, reasons: Mapping[str, str]) -> Cell:
    if decided is None:
        return cell
    own = "the policy's default" if decided.rule == "default" else f"the rule {decided.rule}"
    # `auto` leaves it to lists of ops, whoever said so.
    lists = " and the lists of ops" if decided.precision == "auto" else ""
    patterns = dict.fromkeys(decided.op_rules.values())
    rules = (f"{own}: {decided.precision}{lists}", *(f"the rule {pattern}" for pattern in patterns))
    return Cell(
        cell.precision,
        cell.ops,
        rules,
        tuple(f"{pattern}: {reasons[pattern]}" for pattern in (decided.rule, *patterns) if pattern in reasons),
    )


def _alike(cells: tuple[Cell, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What neighbours share a row by: neither the rules' wording nor the names of the ops."""
    return tuple((cell.precision, cell.reasons) for cell in cells)


def _joined(rows: Sequence[tuple[str, tuple[Cell, ...]]]) -> StripRow:
    columns = zip(*(cells for _, cells in rows), strict=True)
    return StripRow(rows[0][0], rows[-1][0], len(rows), tuple(_common(column) for column in columns))


def _common(cells: Sequence[Cell]) -> Cell:
    """What holds for all of them; of ops and rules that differ, those of the first and that there are others."""
    first = cells[0]
    ops = first.ops if len({cell.ops for cell in cells}) == 1 else f"{first.ops} (the first layer)"
    rules = first.rules if len({cell.rules for cell in cells}) == 1 else (*first.rules, "others for the rest")
    return Cell(first.precision, ops, rules, first.reasons)


def _shown(path: str) -> str:
    return path or "(the network itself)"
