"""Rules: a pattern, and a function that says what a match becomes."""

from collections.abc import Callable
from dataclasses import dataclass

from mindspore import nn

from .form import Callee, Node, chain


@dataclass(frozen=True)
class Match:
    """What a rule is shown: the callees of the pattern's calls in order, and the path or the words of each."""

    callees: tuple[object, ...]
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Followed:
    """The match stays as it is, and its output goes through `cell` before anything reads it."""

    cell: nn.Cell


@dataclass(frozen=True)
class Declined:
    """The rule leaves this match as it is, for this reason."""

    reason: str


Answer = nn.Cell | Followed | Declined | None


@dataclass(frozen=True)
class Rule:
    """A pattern and what its matches become.

    `build` gets a match and answers with a Cell that takes its place and is called with the values from outside,
    in the order in which the pattern names them; with `Followed`; or with nothing, or `Declined` and the reason.
    `tolerance` is the largest difference that the rule may make to an output of the network, relative to the
    output's largest magnitude or to 1, whichever is greater; 0 stands for bit by bit. A rule that may change the
    type or precision of an output says so with `changes_types`.
    """

    name: str
    pattern: Node
    build: Callable[[Match], Answer]
    tolerance: float = 0.0
    changes_types: bool = False


def pattern(
    *callees: Callee | Node, tolerance: float = 0.0, changes_types: bool = False
) -> Callable[[Callable[..., Answer]], Rule]:
    """Make a rule of a function: `@pattern(nn.Conv2d, nn.BatchNorm2d)`.

    Several callees are a chain; one `Node` is the last call of a graph. The function is called with the callee of
    each call in order (`calls_of`) and answers as `Rule.build` does; the rule is named after it.
    """
    root = callees[0] if len(callees) == 1 and isinstance(callees[0], Node) else chain(*_callees(callees))

    def make(function: Callable[..., Answer]) -> Rule:
        name = function.__name__.replace("_", "-")
        return Rule(name, root, lambda match: function(*match.callees), tolerance, changes_types)

    return make


def _callees(callees: tuple[Callee | Node, ...]) -> list[Callee]:
    for each in callees:
        if isinstance(each, Node):
            raise ValueError("a graph is one Node, its last call: give it alone, with its inputs inside")
    return [each for each in callees if not isinstance(each, Node)]
