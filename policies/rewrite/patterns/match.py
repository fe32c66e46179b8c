"""Finds a pattern in the flow of a construct, backwards from its last call."""

from collections.abc import Mapping
from dataclasses import dataclass

from .flow import Flow, Step
from .form import Anything, Node, calls_of


@dataclass(frozen=True)
class Found:
    """A match: the steps that the pattern's calls are, in the order of `calls_of`, and the values from outside.

    `inputs` are in the order in which the pattern names them; None is a constant, or an argument whose place is
    not known. `kept` are the steps whose output is read elsewhere and which the pattern lets be.
    """

    steps: tuple[Step, ...]
    inputs: tuple[int | None, ...]
    kept: tuple[Step, ...]

    @property
    def root(self) -> Step:
        """The last call."""
        return self.steps[-1]


@dataclass(frozen=True)
class Miss:
    """Why there is no match, in a user's words."""

    reason: str


def match_at(flow: Flow, root: Node, step: Step) -> Found | Miss:
    """Match the pattern so that `root` is this step; the step must be a call of what `root` looks for."""
    bound: dict[Node | Anything, object] = {}
    outside: dict[object, int | None] = {}
    miss = _bind(flow, root, step, bound, outside)
    if miss is not None:
        return miss
    nodes = calls_of(root)
    steps: dict[Node, Step] = {each: found for each in nodes if isinstance(found := bound[each], Step)}
    places = {each.place for each in steps.values()}
    if len(places) < len(nodes):
        return Miss("one call would have to be two calls of the pattern")
    return _leak(flow, root, steps, places) or Found(
        tuple(steps[each] for each in nodes),
        tuple(outside.values()),
        tuple(steps[each] for each in nodes if each is not root and not each.used_only_here),
    )


def _bind(
    flow: Flow,
    node: Node,
    step: Step,
    bound: dict[Node | Anything, object],
    outside: dict[object, int | None],
) -> Miss | None:
    if node in bound:
        return (
            None if bound[node] == step else Miss(f"two inputs come from two calls of {node.name}, not from one")
        )
    bound[node] = step
    if node.inputs is None:
        values = step.inputs if step.call.plain else (None,)
        outside.update({(node, index): value for index, value in enumerate(values)})
        return None
    if not step.call.plain:
        return Miss(f"{step.call.words} is called with keywords or stars: pass its inputs by position")
    if len(node.inputs) != len(step.inputs):
        return Miss(f"{step.call.words} gets {len(step.inputs)} inputs, not {len(node.inputs)}")
    for wanted, value in zip(node.inputs, step.inputs, strict=True):
        miss = _bind_input(flow, wanted, value, step, bound, outside)
        if miss is not None:
            return miss
    return None


def _bind_input(
    flow: Flow,
    wanted: Node | Anything,
    value: int | None,
    step: Step,
    bound: dict[Node | Anything, object],
    outside: dict[object, int | None],
) -> Miss | None:
    if isinstance(wanted, Anything):
        if wanted in bound and (value is None or bound[wanted] != value):
            return Miss(f"{step.call.words} gets two different values where the pattern asks for one")
        bound[wanted] = outside[wanted] = value
        return None
    producer = flow.producer(value)
    if producer is None or not wanted.covers(producer.call.callee):
        return Miss(f"its input is not made by {wanted.name} but {_origin(producer)}")
    return _bind(flow, wanted, producer, bound, outside)


def _origin(producer: Step | None) -> str:
    if producer is None:
        return "comes from outside, or from a statement that MindSpore's rewriter does not follow"
    kind = type(producer.call.callee).__name__ if producer.call.attribute else "a call"
    return f"by {producer.call.words} ({kind}{_at(producer.line)})"


def _leak(flow: Flow, root: Node, steps: Mapping[Node, Step], places: set[int]) -> Miss | None:
    """The first call whose output is read outside the pattern though it must not be."""
    for node, step in steps.items():
        if node is root or not node.used_only_here:
            continue
        for place in flow.readers.get(step.output, ()):
            if place not in places:
                reader = flow.statements[place]
                return Miss(f"the output of {step.call.words} is also read by `{reader.words}`{_at(reader.line)}")
    return None


def _at(line: int | None) -> str:
    return "" if line is None else f", line {line}"
