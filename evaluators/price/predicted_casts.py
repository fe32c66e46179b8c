"""The casts that follow from what each op computes in: forward ones, and what the gradient makes of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .flow import Edge, Flow

_FLOAT32 = "float32"


class PredictedCast(NamedTuple):
    """A cast that a policy needs: what is cast, its elements, and the way.

    `source` is the flow op before it, or below zero a Parameter or input. `backward` casts carry a gradient to that
    value.
    """

    source: int
    elements: int
    before: str
    after: str
    backward: bool


class _Gradient(NamedTuple):
    """A gradient on its way back: the op and operand that it comes from, and its precision when it left them."""

    op: int
    operand: int
    precision: str


def predict_casts(flow: Flow, precisions: Sequence[str], fused: Collection[int]) -> list[PredictedCast]:
    """All casts of a step, when each op of the flow computes in `precisions` and the device fuses `fused` ops."""
    return _Casts(flow, precisions, fused).find()


@dataclass
class _Casts:
    flow: Flow
    precisions: Sequence[str]
    fused: Collection[int]

    def find(self) -> list[PredictedCast]:
        self._forward: dict[tuple, PredictedCast] = {}
        self._backward: dict[tuple, PredictedCast] = {}
        self._gradients: list[list[_Gradient]] = [[] for _ in self.precisions]
        for place in reversed(range(len(self.precisions))):
            own = self._own_gradient(place)
            for number, edge in enumerate(self.flow.ops[place].edges):
                leaving = own if edge.passes_gradient else _Gradient(place, number, self.precisions[place])
                self._cross(place, edge, leaving)
        return [*self._forward.values(), *self._backward.values()]

    def _own_gradient(self, place: int) -> _Gradient:
        """The gradient of an op's output: what reached it, or the sum of that."""
        reached = self._gradients[place]
        return reached[0] if len(reached) == 1 else _Gradient(place, -1, self.precisions[place])

    def _cross(self, place: int, edge: Edge, gradient: _Gradient) -> None:
        source, precision = edge.source, self.precisions[place]
        given = self.precisions[source] if source >= 0 else _FLOAT32
        if given != precision and not self._is_fused(place, edge):
            self._cast_forward(edge, given, precision)
            self._cast_back(edge, precision, given, gradient)
        if edge.as_data:
            self._cast_as_data(place, edge, precision)
        if source >= 0 and edge.carries_gradient:
            self._gradients[source].append(gradient)

    def _cast_as_data(self, place: int, edge: Edge, precision: str) -> None:
        """A float32 Parameter that goes to the data's low precision first and from there to the op's float32."""
        data = self.flow.ops[place].edges[0].source
        arrives = self.precisions[data] if data >= 0 else _FLOAT32
        if arrives not in (_FLOAT32, precision):
            lowered = (edge.source, place)
            for before, after in ((_FLOAT32, arrives), (arrives, precision)):
                if before == _FLOAT32 or after == _FLOAT32:
                    self._forward[lowered, before, after] = PredictedCast(edge.source, edge.elements, before, after, False)
                    self._backward[lowered, before, after] = PredictedCast(edge.source, edge.elements, after, before, True)

    def _cast_forward(self, edge: Edge, given: str, precision: str) -> None:
        source = self.flow.ops[edge.source].group if edge.source >= 0 else edge.source
        cast = PredictedCast(edge.source, edge.elements, given, precision, False)
        self._forward[source, given, precision, edge.elements] = cast

    def _cast_back(self, edge: Edge, precision: str, given: str, gradient: _Gradient) -> None:
        # Low to float32 to the same low again is nothing, and MindSpore takes it out.
        if edge.carries_gradient and gradient.precision != given:
            cast = PredictedCast(edge.source, edge.elements, precision, given, True)
            self._backward[gradient, given] = cast

    def _is_fused(self, place: int, edge: Edge) -> bool:
        """Whether the device's back end takes the casts of this edge into a normalisation on one of its ends."""
        return place in self.fused or edge.source in self.fused
