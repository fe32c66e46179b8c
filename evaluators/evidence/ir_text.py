"""Reads MindSpore's text of a graph (`NN_validate_*.ir`) into frozen values, nothing interpreted."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ...policies.errors import HalfwiseError
from .value_types import TensorType, split_outside_brackets, tensors_of

_ENTRY = re.compile(r"^# IR entry: @(.+)$", re.MULTILINE)
_TOTAL = re.compile(r"^Total number of cnodes: (\d+)$", re.MULTILINE)
_SUBGRAPH = re.compile(r"^subgraph @(.+?)\((.*)\) \{$")
_PARAMETER_TYPES = re.compile(r"^# Parameters: \d+, \((.*)\)$")
_ROOT_PARAMETER = re.compile(r"^(%para\d+_[^:]*): (<.*>)")
_NODE = re.compile(r"^  (?:%(?P<number>\d+)\(.*?\) = (?P<op>%\d+(?:\[.*?\])?|[^(]*)|(?P<return>Return))\(")
_NODE_START = re.compile(r"^  (%\d+\(|Return\()")
_FULL_NAME = re.compile(r"^      # Fullname with scope: \((.*)\)$")
_POSITION = re.compile(r"^      # In file (.+?):(\d+)(?:~\d+)?(?:, (\d+~\d+))?[^/]*/(.*)$")
_CALLED = re.compile(r"@(?!FuncUnion\()([^\s,()\[\]]+)")
_UNIQUE_ID = re.compile(r'\{unique_id: "(\d+)"|, unique_id: "(\d+)"')
_FORWARD_ID = re.compile(r'forward_unique_id: "(\d+)"')


@dataclass(frozen=True)
class Position:
    """One step of the way to an op through the source: file, line, columns such as "15~41", and the line."""

    file: str
    line: int
    columns: str
    code: str


@dataclass(frozen=True)
class IrNode:
    """One node: its op and operands as written, the tensors of each operand and of the output.

    `called` are the graphs that it names. `stack` leads from the training step down to the op; where the
    framework merged or made nodes there is none, and `candidates` holds the stacks of what it was made from.
    """

    number: int | None
    op: str
    operands: tuple[str, ...]
    called: tuple[str, ...]
    input_types: tuple[tuple[TensorType, ...], ...]
    output_types: tuple[TensorType, ...]
    full_name: str
    unique_id: str | None
    forward_unique_id: str | None
    stack: tuple[Position, ...]
    candidates: tuple[tuple[Position, ...], ...]


@dataclass(frozen=True)
class IrGraph:
    """One graph: its parameters, by the names that operands use (`%para1_x`), and its nodes in order."""

    name: str
    parameters: tuple[str, ...]
    parameter_types: tuple[tuple[TensorType, ...], ...]
    nodes: tuple[IrNode, ...]


def read_ir(file: Path) -> tuple[IrGraph, ...]:
    """The graphs of one text dump, the entry first.

    Raises:
        HalfwiseError: the file is not such a dump, or has a line that is not understood.
    """
    # Bytes that are no UTF-8 are garbage to find below, or stand in a name, where they do no harm.
    text = file.read_text(encoding="utf-8", errors="replace")
    entry, total = _ENTRY.search(text), _TOTAL.search(text)
    if entry is None or total is None:
        raise unreadable(file, "the head of a MindSpore graph ('# IR entry', 'Total number of cnodes')")
    try:
        graphs = tuple(_graphs(text.splitlines(), dict(_root_parameters(text))))
    except (ValueError, IndexError) as error:
        raise unreadable(file, f"graphs as MindSpore 2.10 writes them; {error}") from error
    found = sum(len(graph.nodes) for graph in graphs)
    # MindSpore counts its own nodes: a line that was skipped would show here.
    if found != int(total[1]):
        raise unreadable(file, f"{total[1]} nodes, as its head says; found {found}")
    return tuple(sorted(graphs, key=lambda graph: graph.name != entry[1]))


def unreadable(file: Path, expected: str) -> HalfwiseError:
    """The error for a dump that cannot be read; names the file, and the MindSpore that is installed."""
    installed = version("mindspore")
    return HalfwiseError(f"graph dump {file} of MindSpore {installed} cannot be read: expected {expected}")


def _root_parameters(text: str) -> Iterator[tuple[str, tuple[TensorType, ...]]]:
    for line in text.partition("# Params:")[2].partition("Node counting information")[0].splitlines():
        found = _ROOT_PARAMETER.match(line)
        if found:
            yield found[1].strip(), tensors_of(found[2])


def _graphs(lines: list[str], root: dict[str, tuple[TensorType, ...]]) -> Iterator[IrGraph]:
    start: int | None = None
    name, parameters, types = "", tuple(root), tuple(root.values())
    for number, line in enumerate(lines):
        head, listed = _SUBGRAPH.match(line), _PARAMETER_TYPES.match(line)
        if listed:
            types = tuple(map(tensors_of, split_outside_brackets(listed[1])))
        elif head:
            start, name = number + 1, head[1]
            parameters = tuple(split_outside_brackets(head[2])) or parameters
        elif line == "}" and start is not None:
            yield IrGraph(name, parameters, types, tuple(map(_node, _chunks(lines[start:number]))))
            start, parameters, types = None, (), ()


def _chunks(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each node."""
    starts = [number for number, line in enumerate(lines) if _NODE_START.match(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start:end]


def _node(lines: list[str]) -> IrNode:
    type_line = next((number for number, line in enumerate(lines) if line.startswith("      : ")), None)
    if type_line is None:
        raise ValueError(f"types expected below {lines[0][:120]!r}")
    # The value of a constant tensor may be printed over several lines.
    head, types = " ".join(lines[:type_line]), lines[type_line]
    found = _NODE.match(head)
    if found is None:
        raise ValueError(f"a node expected in {head[:120]!r}")
    operands, attributes = _split_operands(head[found.end() :])
    inputs, _, output = types.removeprefix("      : ").partition(" -> ")
    op = found["op"] or found["return"]
    own, *others = _stacks(lines[type_line + 1 :])
    return IrNode(
        number=int(found["number"]) if found["number"] else None,
        op="call" if op.startswith("%") else op.removeprefix("PrimFunc_"),
        operands=(op.partition("[")[0], *operands) if op.startswith("%") else tuple(operands),
        called=tuple(_CALLED.findall(head[: found.end()] + ",".join(operands))),
        input_types=tuple(map(tensors_of, split_outside_brackets(inputs[1:-1]))),
        output_types=tensors_of(output[1:-1]),
        full_name=next((name[1] for line in lines if (name := _FULL_NAME.match(line))), ""),
        unique_id=_group(_UNIQUE_ID, attributes),
        forward_unique_id=_group(_FORWARD_ID, attributes),
        stack=own,
        candidates=tuple(others),
    )


def _split_operands(text: str) -> tuple[list[str], str]:
    """The operands up to the bracket that closes them, and what follows it."""
    depth = 1
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return split_outside_brackets(text[:place]), text[place + 1 :]
    raise ValueError(f"the operands have no end in {text[:120]!r}")


def _stacks(lines: Iterable[str]) -> list[tuple[Position, ...]]:
    """The node's own stack, then one for each 'Corresponding …' heading."""
    stacks: list[list[Position]] = [[]]
    for line in lines:
        found = _POSITION.match(line)
        if found:
            stacks[-1].append(Position(found[1], int(found[2]), found[3] or "", found[4]))
        elif line.startswith("      # Corresponding"):
            stacks.append([])
    return [tuple(stack) for stack in stacks]


def _group(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return next(group for group in found.groups() if group) if found else None
