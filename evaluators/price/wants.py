"""What a policy wants of each op of a flow, asked of the regions that a trial would set."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...policies.outline import NetworkOutline
from ...policies.policy import Policy
from ...policies.precision import Precision, RulePrecision
from ...policies.regions import Region, region_of
from ...policies.resolve import Assignment, resolve
from .flow import Flow, FlowOp

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
    return wants_of(resolve(policy, outline), policy, flow)


def wants_of(assignments: Sequence[Assignment], policy: Policy, flow: Flow) -> tuple[Want, ...]:
    """The same from assignments that are known already, those of every Cell of the network."""
    regions: dict[str, _Region] = {}
    for assignment in assignments:
        region = _region(_Key(assignment, policy))
        for path in (assignment.path, *assignment.aliases):
            regions[path] = region
    return tuple("float32" if op.layer is None else _want(op, regions[op.layer]) for op in flow.ops)


class _Key:
    """Cells with equal keys get equal regions; so a search over one network asks for few."""

    __slots__ = ("assignment", "key", "policy")

    def __init__(self, assignment: Assignment, policy: Policy) -> None:
        self.assignment = assignment
        self.policy = policy
        rules: Mapping[str, Precision] = assignment.op_precisions
        asked = (assignment.precision, tuple(rules.items()), assignment.type_names)
        self.key = (asked, policy.low_precision, policy.ops.white_list, policy.ops.black_list)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key


class _Region:
    __slots__ = ("black", "border", "precision", "white")

    def __init__(self, region: Region) -> None:
        self.precision = region.precision
        self.white = frozenset(region.white_list)
        self.black = frozenset(region.black_list)
        self.border = region.border


@lru_cache(maxsize=4096)
def _region(key: _Key) -> _Region:
    return _Region(region_of(key.assignment, key.policy))


def _want(op: FlowOp, region: _Region) -> Want:
    if op.op in region.white or (op.data_only and region.border == region.precision):
        return region.precision
    if op.op not in region.black:
        return FOLLOW
    return AT_BORDER if region.border == "float32" else "float32"


class LayerWants:
    """What layers want in each precision, worked out once: for searches that choose a precision for each layer.

    Good for policies that differ in `default` and plain layer precisions alone; op rules need `wants`.
    """

    def __init__(self, base: Policy, outline: NetworkOutline, flow: Flow) -> None:
        """`base` gives the op lists and the low precision; its layer rules are not used."""
        uniform = base.replace(layers={})
        self._flow = flow
        self._wants = {
            precision: wants(uniform.replace(default=precision), outline, flow)
            for precision in ("float32", base.low_precision, "auto")
        }

    def of(self, precisions: Mapping[str, RulePrecision]) -> tuple[Want, ...]:
        """The wants of each op, when each layer's own precision is as given; layers left out are float32."""
        float32 = self._wants["float32"]
        return tuple(
            float32[place] if op.layer is None else self._wants[precisions.get(op.layer, "float32")][place]
            for place, op in enumerate(self._flow.ops)
        )
