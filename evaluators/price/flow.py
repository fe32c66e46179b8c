"""The forward pass of a float32 op table as values that flow: what a what-if price walks over."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import pandas as pd

from ...policies.ops import OP_CLASSES
from .operands import Operand, operands

# The gradient of these reaches an operand of the output's own shape as it is: no op stands between.
_PASSES_GRADIENT = frozenset({"Add", "AddExt", "AddN", "AddV2", "BiasAdd", "TensorAdd"})

OUTPUT = "(output)"
"""The name of a flow op that is in no table: where the step takes the network's output as float32."""

# MindSpore's own layers around these write `gamma.astype(x.dtype)`: nothing to see in float32.
_CASTS_PARAMETERS_TO_DATA = frozenset({"LayerNorm", "GroupNorm"})


@dataclass(frozen=True)
class Edge:
    """A value that goes into an op.

    `source` is the op's place in the flow, or below zero a Parameter or an input, each with a number of its own.
    `carries_gradient`: something behind the value is trained. `passes_gradient`: backwards the op's own gradient
    is the value's. `as_data`: a Parameter that the layer's code first casts to whatever the data arrives in.
    """

    source: int
    elements: int
    carries_gradient: bool
    passes_gradient: bool
    as_data: bool


@dataclass(frozen=True)
class FlowOp:
    """One forward op: its row in the table, who decides its precision, what goes in.

    `layer` is None in the loss. `data_only`: an in-place normalisation, of which only the first operand is ever
    low. `rows` are the op's own row and those of its gradient ops. `group`: the place of the first of several
    ops that float32 has made one, since they were equal; each of them stands in the flow. `is_view`: it moves
    nothing.
    """

    row: int
    op: str
    layer: str | None
    data_only: bool
    edges: tuple[Edge, ...]
    rows: tuple[int, ...]
    group: int
    is_view: bool


@dataclass(frozen=True)
class Flow:
    """All forward ops with floats, in the order of the graph; and the rows of what never leaves float32.

    `sums` leads from rows that add up gradients to the place of the op whose output they are the gradient of.
    """

    ops: tuple[FlowOp, ...]
    sums: Mapping[int, int]
    consumers: tuple[tuple[int, ...], ...]

    @cached_property
    def _copies(self) -> tuple[int, ...]:
        sizes = Counter(op.group for op in self.ops)
        return tuple(place for place, op in enumerate(self.ops) if sizes[op.group] > 1)

    def merged(self, precisions: Sequence[str]) -> Mapping[int, int]:
        """Where each op stands that float32 has made one of several, when the ops compute in these precisions.

        They are one again where they agree in precision and in what goes in; it stands at the first of them.
        """
        firsts: dict[tuple, int] = {}
        found: dict[int, int] = {}
        for place in self._copies:
            op = self.ops[place]
            values = (found.get(edge.source, edge.source) for edge in op.edges)
            found[place] = firsts.setdefault((op.group, precisions[place], *values), place)
        return found


def build_flow(table: pd.DataFrame, batch_size: int) -> Flow:
    """The flow of a float32 op table (asked stage) at its batch size."""
    return _Builder(table, batch_size).build()


class _Builder:
    def __init__(self, table: pd.DataFrame, batch_size: int) -> None:
        self._rows = list(table.itertuples())
        self._row_of = {row.id: place for place, row in enumerate(self._rows)}
        self._batch = batch_size
        self._outputs = {row.id: row.output_shapes for row in self._rows}
        self._trained = self._trained_shapes()
        self._places: dict[int, dict[str | None, int]] = {}
        self._leaves: dict[object, int] = {}
        self._casts_of_outputs: dict[int, int] = {}
        self._gradients = self._gradient_rows()
        self._ops: list[FlowOp] = []
        self._carries: list[bool] = []

    def build(self) -> Flow:
        forward = [row for row in self._rows if row.direction in ("forward", "loss") and _has_floats(row)]
        forward = [row for row in _producers_first(forward) if not row.is_cast]
        for row in forward:
            self._add(row)
        consumers: list[list[int]] = [[] for _ in self._ops]
        for place, op in enumerate(self._ops):
            for edge in op.edges:
                if edge.source >= 0:
                    consumers[edge.source].append(place)
        return Flow(tuple(self._ops), self._sums(consumers), tuple(map(tuple, consumers)))

    def _layers(self, row) -> list[str | None]:
        """Where an op stands; equal ops that float32 made one: the layers that take its value, each its own."""
        if row.direction == "loss":
            return [None]
        if row.layer_certain:
            return [row.layer]
        takers = [self._rows[self._row_of[number]] for number in row.consumers]
        layers = [layer for taker in takers if taker.direction == "forward" for layer in self._layers(taker)]
        return list(dict.fromkeys(layers)) or [row.layer]

    def _add(self, row) -> None:
        """The op, once for each layer that it stands in; the gradient ops go with the first."""
        found = operands(row, self._outputs, self._trained, self._batch)
        operands_in = [operand for operand in found if operand.kind != "constant"]
        places: dict[str | None, int] = {}
        rows = (self._row_of[row.id], *self._gradients[row.id])
        for layer in self._layers(row):
            edges = tuple(self._edge(row, layer, operand) for operand in operands_in)
            data_only = OP_CLASSES.get(row.graph_op) == "inplace_normalization"
            group = next(iter(places.values()), len(self._ops))
            places[layer] = len(self._ops)
            self._carries.append(any(edge.carries_gradient for edge in edges))
            self._ops.append(
                FlowOp(
                    row=self._row_of[row.id],
                    op=row.graph_op,
                    layer=layer,
                    data_only=data_only,
                    edges=edges[:1] if data_only else edges,
                    rows=rows if group == places[layer] else rows[:1],
                    group=group,
                    is_view=row.bytes_written == 0,
                )
            )
        self._places[row.id] = places

    def _output(self, source: int, elements: int) -> int:
        """The place where the step casts an output of the network to float32, once for the whole loss."""
        if source not in self._casts_of_outputs:
            made = self._ops[source]
            edge = Edge(source, elements, self._carries[source], passes_gradient=True, as_data=False)
            self._casts_of_outputs[source] = len(self._ops)
            self._carries.append(edge.carries_gradient)
            place = len(self._ops)
            self._ops.append(FlowOp(made.row, OUTPUT, None, False, (edge,), (), place, is_view=True))
        return self._casts_of_outputs[source]

    def _edge(self, row, layer: str | None, operand: Operand) -> Edge:
        passes = row.graph_op in _PASSES_GRADIENT and operand.shape == row.output_shapes[0]
        if operand.kind == "op" and operand.source in self._places:
            places = self._places[operand.source]
            source = places.get(layer, next(iter(places.values())))
            if layer is None and self._ops[source].layer is not None:
                source = self._output(source, operand.elements)
            return Edge(source, operand.elements, self._carries[source], passes, as_data=False)
        key = operand.source if operand.kind == "parameter" else (operand.kind, operand.source, operand.shape)
        leaf = self._leaves.setdefault(key, -1 - len(self._leaves))
        parameter = operand.kind == "parameter"
        as_data = parameter and row.graph_op in _CASTS_PARAMETERS_TO_DATA
        return Edge(leaf, operand.elements, parameter and key in self._trained, passes, as_data)

    def _trained_shapes(self) -> dict[str, tuple[int, ...]]:
        updates = [row for row in self._rows if row.direction == "update" and row.parameters]
        return {row.parameters[0]: row.input_shapes[0] for row in updates if row.input_shapes[0] != ()}

    def _gradient_rows(self) -> dict[int, list[int]]:
        rows: dict[int, list[int]] = defaultdict(list)
        for place, row in enumerate(self._rows):
            if row.direction == "gradient" and row.forward_id is not None:
                rows[row.forward_id].append(place)
        return rows

    def _sums(self, consumers: list[list[int]]) -> dict[int, int]:
        """Rows of AddN in the gradient: values with several takers have one each, last value first."""
        rows = [place for place, row in enumerate(self._rows) if self._adds_gradients(row)]
        several = [place for place, takers in enumerate(consumers) if len(takers) > 1 and self._carries[place]]
        sums, left = {}, several[::-1]
        for row in rows:
            size = prod(self._rows[row].output_shapes[0])
            match = next((v for v in left if self._size(self._ops[v]) == size), None)
            if match is not None:
                sums[row] = match
                left = [v for v in left if v != match]
        return sums

    def _adds_gradients(self, row) -> bool:
        return row.direction == "gradient" and row.forward_id is None and row.graph_op == "AddN"

    def _size(self, op: FlowOp) -> int:
        return prod(self._rows[op.row].output_shapes[0])


def _has_floats(row) -> bool:
    return row.compute_precision is not None and not (
        isinstance(row.compute_precision, float) and np.isnan(row.compute_precision)
    )


def _producers_first(rows: list) -> list:
    """The dump puts the ops of other graphs behind those of the entry, whoever takes their values."""
    waiting = {row.id: row for row in rows}
    ordered: list = []
    for row in rows:
        stack = [row.id]
        while stack:
            current = waiting.get(stack[-1])
            needed = [number for number in current.producers if number in waiting] if current else []
            stack.extend(reversed(needed))
            if not needed:
                ordered += [waiting.pop(stack.pop())] if current else []
                stack = stack if current else stack[:-1]
    return ordered
