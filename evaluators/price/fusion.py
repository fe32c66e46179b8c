"""What a device's back end makes of casts around an op that takes both precisions by itself."""

from dataclasses import dataclass
from math import prod

import numpy as np
import pandas as pd

from ...policies.precision import LOW_PRECISIONS
from .devices import FusedCasts


@dataclass(frozen=True)
class Fused:
    """By row: the bytes that an op no longer moves, and whether the row is a cast that is gone."""

    saved_bytes: np.ndarray
    gone: np.ndarray


def fuse(table: pd.DataFrame, rule: FusedCasts) -> Fused:
    """Apply a device's rule: a float32 op whose data comes from and goes to casts alone moves the low precision.

    Data is what has the shape of the op's first output. The casts behind the op go; one before it goes when all
    that take its value are such ops.
    """
    return _Fusion(table, rule).run()


class _Fusion:
    def __init__(self, table: pd.DataFrame, rule: FusedCasts) -> None:
        self._row_of = {number: row for row, number in enumerate(table["id"])}
        self._producers = table["producers"].to_list()
        self._consumers = _consumers(table["id"], self._producers)
        self._inputs = table["input_precisions"].to_list()
        self._input_shapes = table["input_shapes"].to_list()
        self._output = table["output_precision"].to_list()
        self._output_shapes = table["output_shapes"].to_list()
        self._is_cast = table["is_cast"].to_numpy(bool)
        names = table["graph_op" if "graph_op" in table else "op"]
        self._fuses = names.isin(rule.ops).to_numpy()
        self._saved = np.zeros(len(table))
        self._gone = np.zeros(len(table), dtype=bool)

    def run(self) -> Fused:
        for row in np.flatnonzero(self._fuses):
            if self._output[row] == "float32":
                self._fuse(row)
        for row in np.flatnonzero(self._is_cast):
            takers = self._consumers[row]
            if self._widens(row) and takers and all(self._saved[taker] > 0 for taker in takers):
                self._gone[row] = True
        return Fused(self._saved, self._gone)

    def _fuse(self, row: int) -> None:
        shape = self._output_shapes[row][0]
        given = [self._row_of[number] for number in self._producers[row]]
        before = [cast for cast in given if self._widens(cast) and self._output_shapes[cast][0] == shape]
        behind = [r for r in self._consumers[row] if not self._fuses[r] and shape in self._input_shapes[r]]
        if before and behind and all(self._narrows(taker) for taker in behind):
            self._saved[row] = prod(shape) * 2 * (len(before) + 1)
            self._gone[behind] = True

    def _widens(self, row: int) -> bool:
        return (
            bool(self._is_cast[row]) and self._inputs[row][0] in LOW_PRECISIONS and self._output[row] == "float32"
        )

    def _narrows(self, row: int) -> bool:
        return (
            bool(self._is_cast[row]) and self._inputs[row][0] == "float32" and self._output[row] in LOW_PRECISIONS
        )


def _consumers(ids: pd.Series, producers: list[tuple[int, ...]]) -> list[list[int]]:
    row_of = {number: row for row, number in enumerate(ids)}
    taking: list[list[int]] = [[] for _ in producers]
    for row, given in enumerate(producers):
        for number in given:
            taking[row_of[number]].append(row)
    return taking
