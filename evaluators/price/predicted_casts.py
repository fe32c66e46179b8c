"""The casts that follow from what each op computes in: forward ones, and what the gradient makes of them.

Only edges of the flow whose ends differ are looked at; where a gradient comes from, and who takes it, is followed
from there as far as it matters.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .flow import Edge, Flow

_FLOAT32 = "float32"


class CrossedEdge(NamedTuple):
    """An edge of the flow (`FlowIndex.edges`) that needs a cast, forward or for its gradient."""

    edge: int
    before: str
    after: str
    backward: bool


@dataclass(frozen=True)
class PredictedCasts:
    """All casts of a step, those aside that the device takes into normalisations.

    `fused_forward` are the flow ops that do so in the forward pass; `fused_backward` leads from those that do so
    backwards to how many casts before their gradient op are taken in.
    """

    casts: list[CrossedEdge]
    fused_forward: Collection[int]
    fused_backward: dict[int, int]


class _Gradient(NamedTuple):
    """A gradient on its way back: the op and operand that it comes from, and its precision there.

    `widened`: it has just been cast to float32.
    """

    op: int
    operand: int
    precision: str
    widened: bool


class FlowIndex:
    """A flow's edges as flat lists, and what is known of them whatever the policy."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        pairs = [(place, number) for place, op in enumerate(flow.ops) for number in range(len(op.edges))]
        self.edges = [flow.ops[place].edges[number] for place, number in pairs]
        self.places = [place for place, _ in pairs]
        self.numbers = [number for _, number in pairs]
        self.sources = [edge.source for edge in self.edges]
        self.elements = [edge.elements for edge in self.edges]
        self.carries = [edge.carries_gradient for edge in self.edges]
        self.passes = [edge.passes_gradient for edge in self.edges]
        self.of_op: list[list[int]] = [[] for _ in flow.ops]
        self.takers: list[list[int]] = [[] for _ in flow.ops]
        for number, edge in enumerate(self.edges):
            self.of_op[self.places[number]].append(number)
            if edge.source >= 0 and edge.carries_gradient:
                self.takers[edge.source].append(number)
        self.as_data = [number for number, edge in enumerate(self.edges) if edge.as_data]


def predict_casts(
    index: FlowIndex, precisions: Sequence[str], fusable: Collection[int], at_border: Collection[int]
) -> PredictedCasts:
    """The casts, when each op of the flow computes in `precisions`.

    `at_border` are ops whose layer casts its data to float32 before it does anything else.

    `fusable` are the flow ops whose neighbouring casts the device's back end may take in (`fusion.fuse` is the
    same rule on a table).
    """
    return _Casts(index, precisions, fusable, at_border).find()


class _Casts:
    def __init__(
        self, index: FlowIndex, precisions: Sequence[str], fusable: Collection[int], at_border: Collection[int]
    ) -> None:
        self._index = index
        self._at_border = at_border
        # Parameters and inputs have places below zero: the end of the list.
        leaves = 1 - min(index.sources, default=0)
        self._precisions = [*precisions, *[_FLOAT32] * leaves]
        self._own: dict[int, _Gradient] = {}
        flow = index.flow
        between = [place for place in fusable if self._widens_data(place)]
        self._fused_forward = {place for place in between if self._narrows_output(place)}
        carrying = [place for place in between if index.carries[index.of_op[place][0]]]
        self._fused_backward = dict.fromkeys(carrying, 1)
        for place in carrying:
            self._fused_backward[place] += len(index.takers[place]) == 1 and self._own_gradient(place).widened
        self._merged = flow.merged(precisions)

    def find(self) -> PredictedCasts:
        index, precisions, merged = self._index, self._precisions, self._merged
        forward: dict[tuple, CrossedEdge] = {}
        backward: dict[tuple, CrossedEdge] = {}
        for number, (source, place) in enumerate(zip(index.sources, index.places, strict=True)):
            given, precision = precisions[source], precisions[place]
            if given == precision:
                continue
            if not self._taken_in(place, source):
                key = (merged.get(source, source), given, precision, index.elements[number])
                forward.setdefault(key, CrossedEdge(number, given, precision, False))
            if index.carries[number]:
                gradient = self._leaving(number)
                if gradient.precision != given and not self._taken_in_backward(place, source, given, precision):
                    key = (*gradient[:3], given)
                    backward.setdefault(key, CrossedEdge(number, precision, given, True))
        casts = [*forward.values(), *backward.values(), *self._as_data()]
        return PredictedCasts(casts, self._fused_forward, self._fused_backward)

    def _widens_data(self, place: int) -> bool:
        source = self._index.flow.ops[place].edges[0].source
        return source >= 0 and self._precisions[place] == _FLOAT32 != self._precisions[source]

    def _narrows_output(self, place: int) -> bool:
        takers = self._index.flow.consumers[place]
        return bool(takers) and all(self._precisions[taker] != _FLOAT32 for taker in takers)

    def _taken_in(self, place: int, source: int) -> bool:
        """Whether a forward cast is part of the op before it, or of the one behind it and its gradient op."""
        return source in self._fused_forward or (place in self._fused_forward and place in self._fused_backward)

    def _taken_in_backward(self, place: int, source: int, given: str, precision: str) -> bool:
        """Whether the cast of a gradient is part of the gradient op that gives it, or nobody reads it."""
        return place in self._fused_backward or (given == _FLOAT32 and self._is_needless(source, precision))

    def _is_needless(self, source: int, before: str) -> bool:
        """Whether nobody reads the gradient of a value after its cast from `before` to float32.

        Gradient ops may take the cast in, and where the gradient goes on to `before` again it was never cast.
        """
        if source < 0 or len(self._index.takers[source]) != 1:
            return False
        op = self._index.flow.ops[source]
        if op.data_only:  # Its scale has a gradient even where its data has none.
            return source in self._fused_backward
        edges = [edge for edge in op.edges if edge.carries_gradient]
        return all(self._passes_by(source, edge, before) for edge in edges)

    def _passes_by(self, place: int, edge: Edge, before: str) -> bool:
        if not edge.passes_gradient:
            return place in self._fused_backward
        given = self._precisions[edge.source]
        return given == before or (given == _FLOAT32 and self._is_needless(edge.source, before))

    def _own_gradient(self, place: int) -> _Gradient:
        """The gradient of an op's output: what its one taker gives, or the sum of several."""
        if place not in self._own:
            takers = self._index.takers[place]
            alone = self._arriving(takers[0]) if len(takers) == 1 else None
            self._own[place] = alone or _Gradient(place, -1, self._precisions[place], False)
        return self._own[place]

    def _leaving(self, number: int) -> _Gradient:
        """The gradient that an op gives for one of its operands, before any cast."""
        place = self._index.places[number]
        if self._index.passes[number]:
            return self._own_gradient(place)
        return _Gradient(place, self._index.numbers[number], self._precisions[place], False)

    def _arriving(self, number: int) -> _Gradient:
        """The same as it reaches the operand."""
        gradient = self._leaving(number)
        given = self._precisions[self._index.sources[number]]
        if given == self._precisions[self._index.places[number]]:
            return gradient
        if gradient.precision == given:
            # Low to float32 to the same low again is nothing, and MindSpore takes it out.
            return gradient._replace(widened=False)
        if given == _FLOAT32:
            return gradient._replace(widened=True)
        # What is cast down has lost something: from here on it is another value.
        return gradient._replace(precision=given, widened=False)

    def _as_data(self) -> list[CrossedEdge]:
        """Float32 Parameters that go to the data's low precision first and from there to a float32 op."""
        found = []
        for number in self._index.as_data:
            place = self._index.places[number]
            arrives = self._precisions[self._index.edges[self._index.of_op[place][0]].source]
            if self._precisions[place] == _FLOAT32 != arrives and place not in self._at_border:
                ways = (
                    CrossedEdge(number, _FLOAT32, arrives, False),
                    CrossedEdge(number, arrives, _FLOAT32, False),
                )
                back = [CrossedEdge(number, way.after, way.before, True) for way in ways]
                found += [*ways, *(back if self._index.carries[number] else ())]
        return found
