"""Which part of the training step an op belongs to, and what its source positions say about its layer."""

from collections.abc import Sequence
from typing import Literal

from .asked_graph import AskedOp
from .ir_text import Position
from .layer_marks import layer_number

Direction = Literal["forward", "loss", "gradient", "scaling", "update"]


def directions_of(ops: Sequence[AskedOp]) -> list[Direction]:
    """The part of the step of each op, by its id.

    A function that the network and the loss both call (`ops.mean`) may carry the network's positions in the loss
    as well. The network takes no value of the loss, so what takes one that came out of the network is of the loss.
    Nor does it take one of the finite check: what it takes of an op without positions (`x.sum()`) is its own.
    """
    found: list[Direction] = [direction_of(op) for op in ops]
    taken_by_network = [n for op in ops if found[op.id] == "forward" for n in op.producers]
    while taken_by_network:
        number = taken_by_network.pop()
        if found[number] == "scaling":
            found[number] = "forward"
            taken_by_network += ops[number].producers
    behind: set[int] = set()
    grown = -1
    while grown < len(behind):
        grown = len(behind)
        for op in ops:
            taken = [n for n in op.producers if n in behind]
            if taken and found[op.id] == "forward":
                found[op.id] = "loss"
            if found[op.id] == "loss" and (taken or any(found[n] == "forward" for n in op.producers)):
                behind.add(op.id)
    return found


def direction_of(op: AskedOp) -> Direction:
    """The part of the step: `scaling` is gradients to float32, finite check and loss scale."""
    node = op.node
    if node.forward_unique_id is not None or node.full_name.startswith("Gradients/"):
        return "gradient"
    stacks = (node.stack, *node.candidates)
    if any(innermost_mark(stack) is not None for stack in stacks):
        return "forward"
    code = [position.code for stack in stacks for position in stack]
    if any("def _scaled_loss(" in line for line in code):
        return "loss"
    if any("self.optimizer(" in line for line in code) or "/optimizer-" in node.full_name:
        return "update"
    # Without any position there is the scope, which lies only about which of several layers it is.
    if not code and "/network-" in node.full_name:
        return "forward"
    return "loss" if "/loss-" in node.full_name else "scaling"


def innermost_mark(stack: Sequence[Position]) -> int | None:
    """The number of the Cell that a stack of source positions ends in; None outside the network."""
    numbers = [layer_number(position.file) for position in stack]
    return next((number for number in reversed(numbers) if number is not None), None)
