"""Which layer each op of the asked stage belongs to, and to which part of the step.

1. An op with a stack of source positions belongs to the Cell of the innermost mark in it (layer_marks); one
   whose stack has no mark stands outside the network: loss, loss scaling, optimizer.
2. A gradient op belongs to the layer of its forward op, found by `forward_unique_id`.
3. What the framework merged or made has no stack. If all stacks of what it was merged from agree, that is its
   layer; otherwise the layer of the ops that take its value, or failing that, of those that give it. Where those
   are not of one mind, the first decides and the op is marked uncertain.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from ...policies.outline import NetworkOutline
from .asked_graph import AskedGraph, AskedOp
from .ir_text import Position
from .layer_marks import layer_number

Direction = Literal["forward", "loss", "gradient", "scaling", "update"]


@dataclass(frozen=True)
class Place:
    """Where an op belongs: the layer's path (None outside the network), the part of the step.

    `forward` is the id of a gradient op's forward op, when it is still in the graph.
    """

    layer: str | None
    certain: bool
    direction: Direction
    forward: int | None


def attribute(graph: AskedGraph, outline: NetworkOutline) -> tuple[Place, ...]:
    """One place for each op of the graph, in its order."""
    forward_ops = _forward_ops(graph)
    directions = [_direction(op) for op in graph.ops]
    layers: dict[int, tuple[str | None, bool]] = {}
    for op, direction in zip(graph.ops, directions, strict=True):
        known = None if direction == "gradient" else _own_layer(op, outline)
        if known is not None:
            layers[op.id] = known
    for op in graph.ops:
        forward = forward_ops.get(op.node.forward_unique_id)
        if op.id not in layers and forward is not None and forward in layers:
            layers[op.id] = layers[forward]
    for op, direction in zip(graph.ops, directions, strict=True):
        if op.id not in layers and direction == "gradient":
            known = _own_layer(op, outline) if op.node.forward_unique_id else None
            if known is not None:
                layers[op.id] = known
    _spread(graph, directions, layers)
    return tuple(
        Place(*layers.get(op.id, (None, False)), direction, forward_ops.get(op.node.forward_unique_id))
        for op, direction in zip(graph.ops, directions, strict=True)
    )


def _forward_ops(graph: AskedGraph) -> dict[str | None, int]:
    """The forward op behind each unique id; ops that were split from one share its id, and its layer."""
    found: dict[str | None, int] = {}
    for op in graph.ops:
        if op.node.unique_id is not None:
            found.setdefault(op.node.unique_id, op.id)
    return found


def _direction(op: AskedOp) -> Direction:
    node = op.node
    if node.forward_unique_id is not None or node.full_name.startswith("Gradients/"):
        return "gradient"
    stacks = (node.stack, *node.candidates)
    if any(_marks(stack) for stack in stacks):
        return "forward"
    code = [position.code for stack in stacks for position in stack]
    if any("self._scaled_loss" in line or "def _scaled_loss" in line for line in code):
        return "loss"
    if any("self.optimizer(" in line for line in code) or "/optimizer-" in node.full_name:
        return "update"
    if not code and "/network-" in node.full_name:
        return "forward"
    return "loss" if "/loss-" in node.full_name else "scaling"


def _marks(stack: Iterable[Position]) -> list[int]:
    numbers = (layer_number(position.file) for position in stack)
    return [number for number in numbers if number is not None]


def _own_layer(op: AskedOp, outline: NetworkOutline) -> tuple[str | None, bool] | None:
    """What the op's own source positions say; None when they say nothing or contradict each other."""
    if op.node.stack:
        marks = _marks(op.node.stack)
        return (outline.cells[marks[-1]].path if marks else None), True
    found = {marks[-1] if (marks := _marks(stack)) else None for stack in op.node.candidates if stack}
    if len(found) != 1:
        return None
    number = found.pop()
    return (None if number is None else outline.cells[number].path), True


def _spread(graph: AskedGraph, directions: list[Direction], layers: dict[int, tuple[str | None, bool]]) -> None:
    """Give the remaining ops the layer of their neighbours of the same direction, as long as any is found."""
    for neighbours in (lambda op: op.consumers, lambda op: op.producers):
        changed = True
        while changed:
            changed = False
            # Backwards, since a value is made before it is taken.
            for op in reversed(graph.ops):
                found = None if op.id in layers else _vote(op, neighbours, directions, layers)
                if found is not None:
                    layers[op.id] = found
                    changed = True


def _vote(
    op: AskedOp,
    neighbours: Callable[[AskedOp], tuple[int, ...]],
    directions: list[Direction],
    layers: dict[int, tuple[str | None, bool]],
) -> tuple[str | None, bool] | None:
    asked = [n for n in neighbours(op) if directions[n] == directions[op.id]]
    answers = [layers[n] for n in asked if n in layers]
    if not answers:
        return None
    unanimous = len({layer for layer, _ in answers}) == 1 and len(answers) == len(asked)
    return answers[0][0], unanimous and all(certain for _, certain in answers)
