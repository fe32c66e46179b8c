"""What a rule looks for: calls of layers, primitives, functions and operators, by how values flow between them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Callee = type | Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Anything:
    """Any value from outside the pattern; the same object in two places stands for the same value."""


@dataclass(frozen=True, eq=False)
class Node:
    """One call: of a Cell or Primitive of the type `callee`, or of the function or operator `callee` itself.

    A type covers its subclasses, unless they have a `construct` of their own. An operator is the function of
    Python's `operator` module (`operator.add`). `inputs` are the positional arguments in order; None stands for
    any. The same object in two places is the same call. `used_only_here` asks that nothing outside the pattern
    reads its output; the call is then gone after a replacement. Otherwise it stays beside it. Of the pattern's
    last call the output may always be read elsewhere.
    """

    callee: Callee
    inputs: "tuple[Node | Anything, ...] | None" = None
    used_only_here: bool = True

    def covers(self, callee: object) -> bool:
        """Whether a call of this object is what the node looks for."""
        if not isinstance(self.callee, type):
            return callee is self.callee
        if not isinstance(callee, self.callee):
            return False
        return getattr(type(callee), "construct", None) is getattr(self.callee, "construct", None)

    @property
    def name(self) -> str:
        """What it looks for, in a user's words."""
        return getattr(self.callee, "__name__", str(self.callee))


def node(callee: Callee, *inputs: Node | Anything, used_only_here: bool = True) -> Node:
    """A call with these inputs in order; without inputs, a call with any."""
    return Node(callee, inputs or None, used_only_here)


def chain(*callees: Callee) -> Node:
    """Calls of which each gets the output of the one before and nothing else; the last one is returned.

    Raises:
        ValueError: there is no callee.
    """
    if not callees:
        raise ValueError("a pattern must name at least one layer type, function or operator, but got none")
    last = node(callees[0])
    for callee in callees[1:]:
        last = node(callee, last)
    return last


def calls_of(root: Node) -> tuple[Node, ...]:
    """Every call of the pattern once: inputs before what reads them, the last one last."""
    return tuple(dict.fromkeys(_walk(root)))


def _walk(root: Node) -> Iterator[Node]:
    for each in root.inputs or ():
        if isinstance(each, Node):
            yield from _walk(each)
    yield root
