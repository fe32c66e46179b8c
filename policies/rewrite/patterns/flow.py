"""How values flow through one construct: which call makes a value, and which statements read it.

Statements are taken in order. What the rewriter cannot follow (branches, loops, statements that it does not
parse) counts as reading every name that occurs in it and as giving every name that it may set a new value of
unknown origin: a value is then never taken for less used, or a name for less often set, than it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Call:
    """What a statement calls. `callee` is None where it is not known what is called.

    `attribute` is the name of a layer in the Cell that owns it. `arguments` are the names given, None for what
    is no plain name; `plain` is false with keywords or stars, whose places are not known.
    """

    callee: object
    words: str
    arguments: tuple[str | None, ...]
    attribute: str | None = None
    plain: bool = True


@dataclass(frozen=True)
class Statement:
    """One statement: the names that occur in it, those that it sets, and its call if it is one with one result."""

    mentions: frozenset[str]
    sets: frozenset[str]
    words: str
    line: int | None = None
    call: Call | None = None


@dataclass(frozen=True)
class Step:
    """One call in the flow: the values that it gets and gives, by number; `place` counts statements."""

    place: int
    line: int | None
    call: Call
    inputs: tuple[int | None, ...]
    output: int


@dataclass(frozen=True)
class Flow:
    """The steps of a construct, the places that read each value, and the names in force at each place."""

    statements: tuple[Statement, ...]
    steps: tuple[Step, ...]
    readers: Mapping[int, tuple[int, ...]]
    names: tuple[Mapping[str, int], ...]

    @cached_property
    def _producers(self) -> dict[int, Step]:
        return {step.output: step for step in self.steps}

    def producer(self, value: int | None) -> Step | None:
        """The call that makes a value; None for inputs of the construct and values of unknown origin."""
        return None if value is None else self._producers.get(value)

    def name_at(self, value: int, place: int) -> str | None:
        """A name that stands for the value just before the statement at `place`, or None."""
        return next((name for name, held in self.names[place].items() if held == value), None)


def flow_of(statements: Iterable[Statement], parameters: Iterable[str]) -> Flow:
    """Number the values of a construct with these parameters."""
    found = tuple(statements)
    current = {name: number for number, name in enumerate(parameters)}
    values, steps, names = len(current), [], []
    readers: dict[int, tuple[int, ...]] = {}
    for place, statement in enumerate(found):
        names.append(dict(current))
        for value in {current[name] for name in statement.mentions if name in current}:
            readers[value] = (*readers.get(value, ()), place)
        before = dict(current)
        for name in sorted(statement.sets):
            current[name], values = values, values + 1
        if statement.call is not None:
            steps.append(_step(place, statement, statement.call, before, current))
    return Flow(found, tuple(steps), readers, tuple(names))


def _step(
    place: int, statement: Statement, call: Call, before: Mapping[str, int], after: Mapping[str, int]
) -> Step:
    (target,) = statement.sets
    inputs = tuple(None if name is None else before.get(name) for name in call.arguments)
    return Step(place, statement.line, call, inputs, after[target])
