"""The cast report: where precision changes between layers, what that costs, and what one precision would bring."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .devices import Device
from .op_costs import op_costs

OUTSIDE = "(outside the network)"
WEIGHTS = "(weights)"
INPUT = "(input)"


@dataclass(frozen=True)
class Boundary:
    """Casts on the way from one layer to another, forward and backward ones together.

    `share` is their part of the step. `merging_saves_s` is what the step would save if both sides computed in one
    precision: the casts' own time, no more; whether the op that moves gets faster or slower is not in it.
    """

    producer: str
    consumer: str
    casts: int
    seconds: float
    share: float
    merging_saves_s: float


def cast_report(table: pd.DataFrame, device: Device, top: int = 10) -> tuple[Boundary, ...]:
    """The boundaries whose casts cost most on the device, dearest first; `table` is an op table (asked stage).

    A cast that several layers share stands at the first of them, and merging that boundary alone saves nothing:
    it is then still needed for the others. Backward casts stand at the boundary of the forward pass they go back
    through.
    """
    costs = op_costs(table, device)
    total = costs.seconds.sum()
    report = _Report(table)
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in np.flatnonzero(costs.is_cast):
        cells[report.boundary(row)].append(row)
    found = [
        Boundary(
            producer=producer,
            consumer=consumer,
            casts=len(rows),
            seconds=float(costs.seconds[rows].sum()),
            share=float(costs.seconds[rows].sum() / total),
            merging_saves_s=float(sum(costs.seconds[row] for row in rows if report.takers(row) == 1)),
        )
        for (producer, consumer), rows in cells.items()
    ]
    return tuple(sorted(found, key=lambda boundary: -boundary.seconds)[:top])


class _Report:
    def __init__(self, table: pd.DataFrame) -> None:
        self._row_of = {number: row for row, number in enumerate(table["id"])}
        self._producers = table["producers"].to_list()
        self._consumers = table["consumers"].to_list()
        self._parameters = table["parameters"].to_list()
        self._layers = table["layer"].replace(np.nan, None).to_list()
        self._backward = (table["direction"] == "gradient").to_list()

    def boundary(self, row: int) -> tuple[str, str]:
        """Producer's and consumer's layer, as the forward pass goes."""
        before, after = self._giver(row), self._taker_layers(row)
        taker = after[0] if after else OUTSIDE
        return (taker, before) if self._backward[row] else (before, taker)

    def takers(self, row: int) -> int:
        """How many layers take the cast's value, outside counted as one."""
        return len(self._taker_layers(row))

    def _giver(self, row: int) -> str:
        if self._parameters[row]:
            return WEIGHTS
        if not self._producers[row]:
            return INPUT
        return self._layer(self._row_of[self._producers[row][0]])

    def _taker_layers(self, row: int) -> list[str]:
        takers = [self._row_of[number] for number in self._consumers[row]]
        if self._backward[row] and all(self._layers[taker] is None for taker in takers):
            return [WEIGHTS]
        same_pass = [taker for taker in takers if self._backward[taker] == self._backward[row]]
        return list(dict.fromkeys(self._layer(taker) for taker in same_pass))

    def _layer(self, row: int) -> str:
        layer = self._layers[row]
        return OUTSIDE if layer is None else layer or "(the network itself)"
