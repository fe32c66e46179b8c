"""Paths of layers: of the Cell in an op's name, one below another, what two share."""

from collections.abc import Sequence

from .asked_graph import AskedOp


def scope_of(op: AskedOp) -> str:
    """The path of the Cell in an op's own name: "a.b" of "Default/network-Net/a-Block/b-Dense/MatMul-op0"."""
    names = op.node.full_name.partition("/network-")[2].split("/")[1:-1]
    return ".".join(name.rpartition("-")[0] for name in names)


def within(path: str, cell: str) -> bool:
    """Whether a path is a Cell's or below it."""
    return not cell or path == cell or path.startswith(f"{cell}.")


def common(path: Sequence[str], other: Sequence[str]) -> int:
    """How many leading names two paths share."""
    same = 0
    for left, right in zip(path, other, strict=False):
        if left != right:
            break
        same += 1
    return same
