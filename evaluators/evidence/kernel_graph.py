"""The kernel stage: what the back end of this device runs, read from the final actor text.

Shapes and types in this text are true, while `ms_output_after_opt_0.pb` keeps stale output types. Fusion actors
only group kernels, so they are looked through.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .ir_text import IrGraph, unreadable
from .value_types import TensorType, split_outside_brackets, tensors_of

_NODE = re.compile(
    r"^%(?P<number>\d+) = (?:kernel_graph\d+:(?P<kernel>.+?)-op\d+|(?P<actor>[^( ]+))"
    r"\((?P<operands>.*?)\)(?: op control\(.*\))?$"
)
_BLOCK = re.compile(r"^(Base Block|Actor for func graph)")
_FIELD = re.compile(r"^\t# (device context|shape|type|AID) ?: ?(.*)$")
_OUTPUT = re.compile(r"^%(\d+)\[(\d+)\]$")
_UNKNOWN = "<null>"


@dataclass(frozen=True)
class Kernel:
    """One kernel: MindSpore's op, its name in the graph, the device, operands as written, tensors in and out.

    `branch` numbers the part of the step that is launched as a whole. `producers` are the ids of the kernels of
    that branch whose values it takes, `parameters` the Parameters.
    """

    id: int
    branch: int
    op: str
    name: str
    device: str
    operands: tuple[str, ...]
    inputs: tuple[tuple[TensorType, ...], ...]
    outputs: tuple[TensorType, ...]
    producers: tuple[int, ...]
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class _Actor:
    kernel: str | None
    actor: str
    operands: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str
    device: str


def read_kernel_graph(folder: Path, graphs: tuple[IrGraph, ...]) -> tuple[Kernel, ...]:
    """Every kernel that this device runs for a step, in order; `graphs` is the asked stage of the same dump.

    The asked stage gives the types of values that enter a branch, which the kernel text leaves out.

    Raises:
        HalfwiseError: there is no such dump, or it cannot be read.
    """
    found = sorted((folder / "actor_set").glob("final_actor_set_*.ir"))
    if not found:
        raise unreadable(folder / "actor_set", "a file 'final_actor_set_*.ir'; the back end wrote none")
    kernels: list[Kernel] = []
    for file in found:
        try:
            for number, block in enumerate(_blocks(file.read_text(encoding="utf-8").splitlines())):
                kernels += _Block(number, block, graphs).kernels(len(kernels))
        except (ValueError, IndexError, KeyError) as error:
            raise unreadable(file, f"actors as MindSpore 2.10 writes them; {error!r}") from error
    return tuple(kernels)


def _blocks(lines: list[str]) -> Iterator[dict[int, _Actor]]:
    """The actors of each block by number; numbers start anew in each."""
    block: dict[int, _Actor] = {}
    for number, line in enumerate(lines):
        if _BLOCK.match(line):
            yield block
            block = {}
        found = _NODE.match(line)
        if found:
            block[int(found["number"])] = _actor(found, lines[number + 1 : number + 7])
    yield block


def _actor(found: re.Match[str], lines: list[str]) -> _Actor:
    fields: dict[str, str] = {}
    for line in lines:
        field = _FIELD.match(line)
        if field is None and not line.startswith("\t"):
            break
        if field:
            fields[field[1]] = field[2]
    shapes, types = _sides(fields.get("shape", "->")), _sides(fields.get("type", "->"))
    typed = [
        tuple(map(_typed, *side)) if len(side[0]) == len(side[1]) else ()
        for side in zip(types, shapes, strict=True)
    ]
    return _Actor(
        kernel=found["kernel"],
        actor=found["actor"] or "",
        operands=tuple(split_outside_brackets(found["operands"])),
        inputs=typed[0],
        outputs=typed[1],
        # A kernel's name follows its number in the order of launch; a graph's name is whole.
        name=fields.get("AID", "").partition("_")[2] if found["kernel"] else fields.get("AID", ""),
        device=fields.get("device context", "").strip(),
    )


def _sides(text: str) -> tuple[list[str], list[str]]:
    """The `<…>` on both sides of the arrow."""
    before, _, after = text.partition("->")
    return _angles(before), _angles(after)


def _angles(text: str) -> list[str]:
    parts, start, depth = [], 0, 0
    for place, character in enumerate(text):
        if character == "<":
            start = place if depth == 0 else start
            depth += 1
        elif character == ">":
            depth -= 1
            if depth == 0:
                parts.append(text[start + 1 : place])
    return parts


def _typed(element: str, shape: str) -> str:
    return _UNKNOWN if element == "null" else f"<{element}, {shape}>"


class _Block:
    """One block of actors: finds out where each kernel's operands come from."""

    def __init__(self, number: int, actors: dict[int, _Actor], graphs: tuple[IrGraph, ...]) -> None:
        self._number = number
        self._actors = actors
        self._graphs = {graph.name: graph for graph in graphs}

    def kernels(self, first_id: int) -> list[Kernel]:
        """The kernels of the block, numbered from `first_id`."""
        computing = [number for number, actor in self._actors.items() if actor.kernel]
        ids = {number: first_id + place for place, number in enumerate(computing)}
        return [self._kernel(ids[number], self._actors[number], ids) for number in computing]

    def _kernel(self, id_: int, actor: _Actor, ids: dict[int, int]) -> Kernel:
        sources = [self._source(operand) for operand in actor.operands]
        inputs = [self._types(*pair) for pair in zip(sources, actor.inputs, strict=True)]
        parameters = [s.removeprefix("%param_") for s in sources if isinstance(s, str) and s.startswith("%param_")]
        parameters += [t.parameter for types in inputs for t in types if t.parameter]
        return Kernel(
            id=id_,
            branch=self._number,
            op=actor.kernel or "",
            name=actor.name,
            device=actor.device.partition("_")[0],
            operands=actor.operands,
            inputs=tuple(inputs),
            outputs=tuple(tensor for text in actor.outputs for tensor in tensors_of(text)),
            producers=tuple(dict.fromkeys(ids[s[0]] for s in sources if isinstance(s, tuple) and s[0] in ids)),
            parameters=tuple(dict.fromkeys(parameters)),
        )

    def _source(self, operand: str) -> tuple[int, int] | str:
        """(actor, output) behind an operand, fusion actors looked through; the operand itself for the rest."""
        found = _OUTPUT.match(operand)
        if found is None:
            return operand
        number, output = int(found[1]), int(found[2])
        actor = self._actors[number]
        if actor.actor.endswith("FusionActor"):
            return self._source(actor.operands[output])
        return number, output

    def _types(self, source: tuple[int, int] | str, written: str) -> tuple[TensorType, ...]:
        if written != _UNKNOWN:
            return tensors_of(written)
        if isinstance(source, str):
            return ()
        # A value that enters a branch: the asked stage knows the graph's parameters, in this order.
        graph = self._graphs.get(self._actors[source[0]].name.removesuffix("_EntranceActor"))
        return graph.parameter_types[source[1]] if graph else ()
