"""The asked stage as ops and the data that flows between them.

Read from the `validate` text, the last dump of the graph before the back end takes it. The other dump of that
graph, `ms_output_optimize.pb`, holds the entry graph only, so the optimizer's branch is missing from it, and
neither the ids that lead from a gradient op to its forward op nor the source positions.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...policies.errors import HalfwiseError
from .ir_text import IrGraph, IrNode, read_ir, unreadable

# These carry values from op to op and compute nothing.
_BOOKKEEPING = frozenset(
    [
        "Load",
        "UpdateState",
        "TupleGetItem",
        "MakeTuple",
        "ListGetItem",
        "MakeList",
        "Depend",
        "Partial",
        "Switch",
        "SwitchLayer",
        "call",
        "Return",
        "StopGradient",
        "DictGetItem",
        "MakeDict",
        "MakeKeywordArg",
        "make_dict",
    ]
)
_PASSES_FIRST_OPERAND = frozenset({"Load", "Depend", "StopGradient"})
_NUMBER = re.compile(r"I64\((-?\d+)\)")


@dataclass(frozen=True)
class AskedOp:
    """One op: its number in the whole dump, where its data comes from and where it goes.

    `parameters` are the names of the Parameters that it takes, directly or loaded.
    """

    id: int
    graph: str
    node: IrNode
    producers: tuple[int, ...]
    consumers: tuple[int, ...]
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class AskedGraph:
    """Every op of the asked stage, in the order of the dump, the graphs that they stand in, and the file."""

    file: Path
    ops: tuple[AskedOp, ...]
    graphs: tuple[IrGraph, ...]


def read_asked_graph(folder: Path) -> AskedGraph:
    """The asked stage that MindSpore dumped into `folder`.

    Raises:
        HalfwiseError: there is no such dump, more than one, or it cannot be read.
    """
    file = _dump(folder)
    graphs = read_ir(file)
    try:
        return _asked_graph(file, graphs)
    except (ValueError, IndexError, KeyError) as error:
        raise unreadable(file, f"graphs whose calls and operands go together; {error!r}") from error


def _asked_graph(file: Path, graphs: tuple[IrGraph, ...]) -> AskedGraph:
    flow = _Flow(graphs)
    consumers: dict[int, list[int]] = defaultdict(list)
    inputs = {op: flow.inputs(graph, node) for op, graph, node in flow.ops()}
    for op, (producers, _) in inputs.items():
        for producer in producers:
            consumers[producer].append(op)
    ops = tuple(
        AskedOp(op, graph.name, node, inputs[op][0], tuple(consumers[op]), inputs[op][1])
        for op, graph, node in flow.ops()
    )
    return AskedGraph(file, ops, graphs)


def _dump(folder: Path) -> Path:
    found = sorted(folder.glob("*_validate_*.ir"))
    if len(found) != 1:
        raise HalfwiseError(
            f"graph dump folder {folder}: expected one '*_validate_*.ir' file, found {len(found)}; "
            "compile one step into a new folder, inside dumped_graphs"
        )
    return found[0]


class _Flow:
    """Follows values backwards through bookkeeping, calls and branches to the ops that made them."""

    def __init__(self, graphs: tuple[IrGraph, ...]) -> None:
        self._graphs = {graph.name: graph for graph in graphs}
        self._entry = dict(zip(graphs[0].parameters, graphs[0].parameter_types, strict=True))
        nodes = [(graph, node) for graph in graphs for node in graph.nodes]
        self._nodes = {(graph.name, f"%{node.number}"): node for graph, node in nodes}
        computing = [(graph, node) for graph, node in nodes if node.op not in _BOOKKEEPING]
        self._ops = [(number, graph, node) for number, (graph, node) in enumerate(computing)]
        self._ids = {(graph.name, f"%{node.number}"): number for number, graph, node in self._ops}
        self._arguments = self._bind()

    def ops(self) -> list[tuple[int, IrGraph, IrNode]]:
        return self._ops

    def inputs(self, graph: IrGraph, node: IrNode) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """The ops and the Parameters that a node's operands come from, each once, in order."""
        producers: dict[int, None] = {}
        parameters: dict[str, None] = {}
        for operand in node.operands:
            for source in self._sources(graph.name, operand, (), set()):
                if isinstance(source, int):
                    producers[source] = None
                else:
                    parameters[source] = None
        return tuple(producers), tuple(parameters)

    def _sources(self, graph: str, operand: str, path: tuple[int, ...], seen: set) -> Iterator[int | str]:
        """Ids of ops and names of Parameters behind an operand; `path` picks elements of nested tuples."""
        if not operand.startswith("%") or (graph, operand, path) in seen:
            return
        seen.add((graph, operand, path))
        if (graph, operand) in self._ids:
            yield self._ids[graph, operand]
        elif (graph, operand) in self._nodes:
            yield from self._behind(graph, self._nodes[graph, operand], path, seen)
        elif operand in self._entry:
            yield from (tensor.parameter for tensor in self._entry[operand] if tensor.parameter)
        else:
            for caller, argument in self._arguments[graph, operand]:
                yield from self._sources(caller, argument, path, seen)

    def _behind(self, graph: str, node: IrNode, path: tuple[int, ...], seen: set) -> Iterator[int | str]:
        if node.op in _PASSES_FIRST_OPERAND:
            yield from self._sources(graph, node.operands[0], path, seen)
        elif node.op in ("TupleGetItem", "ListGetItem"):
            index = _NUMBER.fullmatch(node.operands[1])
            picked = (int(index[1]), *path) if index else ()
            yield from self._sources(graph, node.operands[0], picked, seen)
        elif node.op in ("MakeTuple", "MakeList"):
            chosen = node.operands[path[0] : path[0] + 1] if path and path[0] >= 0 else node.operands
            for operand in chosen:
                yield from self._sources(graph, operand, path[1:], seen)
        elif node.op == "call":
            for called in node.called:
                returned = self._graphs[called].nodes[-1]
                yield from self._sources(called, returned.operands[0], path, seen)
        elif node.op not in ("UpdateState", "Partial", "Switch", "SwitchLayer"):
            for operand in node.operands:
                yield from self._sources(graph, operand, (), seen)

    def _bind(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """What each graph's parameters stand for: (calling graph, operand), once for each call."""
        bound: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        held: dict[str, int] = {}
        for graph, node in self._all("Partial"):
            called = self._graphs[node.called[0]]
            held[called.name] = len(node.operands) - 1
            for parameter, operand in zip(called.parameters, node.operands[1:], strict=False):
                bound[called.name, parameter].append((graph.name, operand))
        for graph, node in self._all("call"):
            for name in node.called:
                parameters = self._graphs[name].parameters[held.get(name, 0) :]
                for parameter, operand in zip(parameters, node.operands[1:], strict=False):
                    bound[name, parameter].append((graph.name, operand))
        return bound

    def _all(self, op: str) -> Iterator[tuple[IrGraph, IrNode]]:
        for graph in self._graphs.values():
            yield from ((graph, node) for node in graph.nodes if node.op == op)
