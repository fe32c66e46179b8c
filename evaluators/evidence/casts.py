"""Who put a cast into the asked graph."""

from collections.abc import Sequence
from typing import Literal

from .asked_graph import AskedOp

CastMaker = Literal["policy", "framework"]

# The adapter's construct that casts a Cell's inputs at its border, and casts that the symbol-tree engine wrote.
_OF_POLICY = ("_construct_on_cast_inputs", " = cast_floats")
_WRITTEN_CASTS = (
    "def cast(",
    "def astype(",
    "def to(",
    "def float(",
    "def half(",
    "def type_as(",
    "def bfloat16(",
)


def cast_makers(ops: Sequence[AskedOp]) -> dict[int, CastMaker]:
    """Policy or framework, for each cast by its id.

    Autocast puts a cast before an op and gives it that op's source position; a cast that somebody wrote has a
    position of its own. The cast in a gradient is of the kind of the forward cast that it leads back through.
    Where autocast made two ops' types differ, so that MindSpore promotes them, the policy is the cause as well.
    """
    forward = {op.node.unique_id: op for op in ops if op.node.unique_id and op.node.op == "Cast"}
    by_id = {op.id: op for op in ops}
    makers: dict[int, CastMaker] = {}
    for op in ops:
        if op.node.op == "Cast":
            origin = forward.get(op.node.forward_unique_id) if op.node.forward_unique_id else op
            makers[op.id] = _maker(origin or op, by_id)
    return makers


def _maker(cast: AskedOp, ops: dict[int, AskedOp]) -> CastMaker:
    precisions = {tensor.precision for tensor in (*cast.node.input_types[0], *cast.node.output_types)}
    if None in precisions:
        return "framework"
    stacks = [stack for stack in (cast.node.stack, *cast.node.candidates) if stack]
    if any(written in position.code for stack in stacks for position in stack for written in _OF_POLICY):
        return "policy"
    if any(written in position.code for stack in stacks for position in stack for written in _WRITTEN_CASTS):
        return "framework"
    taken_at = [ops[consumer].node.stack for consumer in cast.consumers]
    at_consumer = any(stack and taken and stack[-1] == taken[-1] for stack in stacks for taken in taken_at)
    return "policy" if at_consumer or not cast.node.stack else "framework"
