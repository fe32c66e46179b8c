"""What a policy wants of each op of a flow, asked of the regions that a trial would set."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ...policies.outline import NetworkOutline
from ...policies.policy import Policy
from ...policies.precision import Precision, RulePrecision
from ...policies.regions import AskedOps, asked_ops, border_of
from ...policies.resolve import Assignment, Resolver
from .flow import Flow

FOLLOW = "follow"
"""The op computes in whatever its inputs are."""

AT_BORDER = "float32 from the border on"
"""The op computes in float32, and so does whatever its layer does before it: its Parameters are not rounded."""

Want = str
"""A precision, FOLLOW or AT_BORDER."""


def wants(policy: Policy, outline: NetworkOutline, flow: Flow) -> tuple[Want, ...]:
    """What each op of the flow shall compute in; ops of the loss in float32.

    Raises:
        InputError: the policy is not one for this network.
    """
    return PolicyWants(outline, flow).of(policy)


class PolicyWants:
    """What many policies want of one flow: of layers of one class with the same ops, one is looked at."""

    def __init__(self, outline: NetworkOutline, flow: Flow) -> None:
        """Finds the ops of each Cell."""
        self._resolver = Resolver(outline)
        self._layers = tuple(_layers(outline, flow))
        self._ops = len(flow.ops)

    def of(self, policy: Policy) -> tuple[Want, ...]:
        """What the function `wants` gives for this outline and flow.

        Raises:
            InputError: as there.
        """
        assignments = self._resolver.resolve(policy)
        owns = [_own(assignment) for assignment in assignments]
        asked: dict[object, AskedOps] = {}
        for own, assignment in zip(owns, assignments, strict=True):
            if own not in asked:
                asked[own] = asked_ops(assignment, policy)
        wanted: list[Want] = ["float32"] * self._ops
        found: dict[tuple[object, _Kind], tuple[Want, ...]] = {}
        for layer in self._layers:
            own = owns[layer.number]
            key = (own, layer.kind)
            if key not in found:
                found[key] = _wants_in(assignments[layer.number], asked[own], layer.kind.ops)
            for place, want in zip(layer.places, found[key], strict=True):
                wanted[place] = want
        return tuple(wanted)


class _Kind:
    """A class of Cells and their ops, each with whether only its data is ever low; compared by identity."""

    def __init__(self, ops: tuple[tuple[str, bool], ...]) -> None:
        self.ops = ops


class _Layer(NamedTuple):
    """A Cell by its number in the outline, and the places of its ops in the flow."""

    number: int
    kind: _Kind
    places: tuple[int, ...]


def _layers(outline: NetworkOutline, flow: Flow) -> Iterator[_Layer]:
    numbers = {name: number for number, cell in enumerate(outline.cells) for name in cell.names}
    places: dict[int, list[int]] = {}
    for place, op in enumerate(flow.ops):
        if op.layer is not None:
            places.setdefault(numbers[op.layer], []).append(place)
    kinds: dict[tuple, _Kind] = {}
    for number, found in places.items():
        ops = tuple((flow.ops[place].op, flow.ops[place].data_only) for place in found)
        kind = kinds.setdefault((outline.cells[number].type_names, ops), _Kind(ops))
        yield _Layer(number, kind, tuple(found))


def _own(assignment: Assignment) -> object:
    """What tells a Cell's ops apart under one policy, its class aside."""
    ops = assignment.op_precisions
    return (assignment.precision, ops) if ops else assignment.precision


def _wants_in(assignment: Assignment, asked: AskedOps, ops: Iterable[tuple[str, bool]]) -> tuple[Want, ...]:
    border = border_of(assignment, asked)
    return tuple(_want(op, data_only, asked, border) for op, data_only in ops)


def _want(op: str, data_only: bool, asked: AskedOps, border: Precision | None) -> Want:
    if asked.is_white(op) or (data_only and border == asked.low):
        return asked.low
    if not asked.is_black(op):
        return FOLLOW
    return AT_BORDER if border == "float32" else "float32"


class LayerWants:
    """What layers want in each precision, worked out once: for searches that choose a precision for each layer.

    Good for policies that differ in `default` and plain layer precisions alone; op rules need `PolicyWants`.
    """

    def __init__(self, base: Policy, outline: NetworkOutline, flow: Flow) -> None:
        """`base` gives the op lists and the low precision; its layer rules are not used."""
        uniform, found = base.replace(layers={}), PolicyWants(outline, flow)
        self._flow = flow
        self._wants = {
            precision: found.of(uniform.replace(default=precision))
            for precision in ("float32", base.low_precision, "auto")
        }

    def of(self, precisions: Mapping[str, RulePrecision]) -> tuple[Want, ...]:
        """The wants of each op, when each layer's own precision is as given; layers left out are float32."""
        float32 = self._wants["float32"]
        return tuple(
            float32[place] if op.layer is None else self._wants[precisions.get(op.layer, "float32")][place]
            for place, op in enumerate(self._flow.ops)
        )
