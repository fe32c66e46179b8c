"""What policies want of the ops of a flow, held against the regions that a trial would set."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.evaluators.price import FOLLOW, PolicyWants, wants
from halfwise.evaluators.price.flow import Flow, FlowOp
from halfwise.evaluators.price.wants import AT_BORDER
from halfwise.policies import CellOutline, InputError, NetworkOutline, Policy, region_of, resolve

TYPES = {"": (), "a": ("nn.BatchNorm2d",), "a.x": ("nn.Dense",), "b": ("nn.LayerNorm",), "b.x": ("nn.Dense",)}
OUTLINE = NetworkOutline(
    tuple(CellOutline(path, ("s",) if path == "b.x" else (), types) for path, types in TYPES.items())
)
OPS = ("BatchNorm", "Exp", "LayerNorm", "MatMul", "Mul", "Muls", "NLLLoss")
LAYERS = (*TYPES, "s", None)

flow_ops = st.builds(
    lambda op, layer: FlowOp(0, op, layer, op == "BatchNorm", (), (), 0, False),
    st.sampled_from(OPS),
    st.sampled_from(LAYERS),
)
precisions = st.sampled_from(["float32", "float16", "auto"])
layer_rules = st.tuples(st.sampled_from([".", "a", "a.x", "*.x", "b", "nn.Dense", "nn.LayerNorm"]), precisions)
op_rules = st.tuples(
    st.tuples(st.sampled_from(["", "a", "b", "*.x"]), st.sampled_from(OPS)).map("::".join),
    st.sampled_from(["float32", "float16"]),
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Rules for layers and ops, and op lists."""
    layers = dict(draw(st.lists(st.one_of(layer_rules, op_rules), max_size=4)))
    listed = draw(st.lists(st.sampled_from(OPS), unique=True))
    white = draw(st.integers(0, len(listed)))
    lists = {"white_list": listed[:white], "black_list": listed[white:]}
    return Policy.model_validate({"default": draw(precisions), "layers": layers, "ops": lists})


def outcome(asking: Callable[..., object], *arguments: object) -> object:
    """What is wanted, or what the error says."""
    try:
        return asking(*arguments)
    except InputError as error:
        return str(error)


def wanted_in_regions(ops: list[FlowOp], policy: Policy) -> tuple[str, ...]:
    """Float32 in the loss."""
    resolve(policy, OUTLINE)
    return tuple("float32" if op.layer is None else wanted_in_region(op, policy) for op in ops)


def wanted_in_region(op: FlowOp, policy: Policy) -> str:
    """Read off the region of the op's Cell, with its lists as MindSpore gets them."""
    assignment = next(a for a in resolve(policy, OUTLINE) if op.layer in (a.path, *a.aliases))
    region = region_of(assignment, policy)
    if op.op in region.white_list or (op.data_only and region.border == region.precision):
        return region.precision
    if op.op in region.black_list:
        return AT_BORDER if region.border == "float32" else "float32"
    return FOLLOW


@settings(deadline=None, max_examples=150)
@given(many=st.lists(policies(), min_size=1, max_size=3), ops=st.lists(flow_ops, min_size=1, max_size=8))
def test_wants_are_what_the_regions_of_the_policy_say(many: list[Policy], ops: list[FlowOp]):
    """For any ops in any layers, one policy after the other; a policy that resolving refuses is refused."""
    flow = Flow(tuple(ops), {}, ())
    found = PolicyWants(OUTLINE, flow)
    for policy in many:
        expected = outcome(wanted_in_regions, ops, policy)
        assert outcome(found.of, policy) == outcome(wants, policy, OUTLINE, flow) == expected


def test_two_low_precisions_in_one_layer_are_refused():
    """A region holds one of them, so there is nothing that such a policy could be priced as."""
    policy = Policy(default="float16", layers={"a::Mul": "bfloat16"})
    with pytest.raises(InputError, match="'a' can hold one low precision"):
        PolicyWants(OUTLINE, Flow((), {}, ())).of(policy)


def test_one_op_in_layers_of_two_classes_is_wanted_as_each_class_says():
    """In MindSpore's own LayerNorm the data is float32 from the border on; written in another layer, at the op."""
    flow = Flow(tuple(FlowOp(0, "LayerNorm", layer, False, (), (), 0, False) for layer in ("b", "a.x")), {}, ())
    assert wants(Policy(), OUTLINE, flow) == (AT_BORDER, "float32")
