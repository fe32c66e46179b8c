"""Layers that are moved to safer precisions, and what else may change: nothing."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from outlines import outlines, rules

from halfwise.policies import (
    CellOutline,
    InputError,
    LowPrecision,
    NetworkOutline,
    Policy,
    Precision,
    RulePrecision,
    resolve,
)
from halfwise.policies.raising import raised, safer

NETWORK = NetworkOutline(
    tuple(
        CellOutline(path, (), types)
        for path, types in [
            ("", ("Net",)),
            ("block", ("Block",)),
            ("block.dense", ("nn.Dense",)),
            ("block.norm", ("nn.LayerNorm",)),
            ("head", ("nn.Dense",)),
        ]
    )
)
SAFETY = {"float16": 0, "bfloat16": 1, "float32": 2}


def asked(
    policy: Policy, outline: NetworkOutline = NETWORK
) -> dict[str, tuple[RulePrecision, dict[str, Precision]]]:
    """Precision and op precisions of each layer."""
    return {a.path: (a.precision, dict(a.op_precisions)) for a in resolve(policy, outline)}


def test_a_layer_is_moved_without_those_in_it() -> None:
    """The block's own ops become float32; its Dense and its norm keep what they had, by rules of their own."""
    policy = raised(Policy(default="float16", layers={"nn.LayerNorm": "float32"}), NETWORK, {"block": "float32"})
    assert policy.layers == {
        "block": "float32",
        "block.dense": "float16",
        "block.norm": "float32",
        "nn.LayerNorm": "float32",
    }


def test_the_network_itself_is_a_layer() -> None:
    """Raising what is written in the network's own construct leaves all layers below it as they were."""
    before = asked(Policy(default="float16"))
    after = asked(raised(Policy(default="float16"), NETWORK, {"": "float32"}))
    assert after == before | {"": ("float32", {})}


def test_a_shared_layer_keeps_what_it_had_through_either_name() -> None:
    """One layer under two blocks, of which a rule names the one: raising what is around tears nothing apart."""
    shared = CellOutline("a.inner", ("b.inner",), ("nn.Dense",))
    network = NetworkOutline((*(CellOutline(path, (), ("Block",)) for path in ("", "a", "b")), shared))
    policy = Policy(default="float16", layers={"a": "float32"})
    before = asked(policy, network)
    assert before["a.inner"] == ("float32", {})
    assert asked(raised(policy, network, {"": "float32"}), network) == before | {"": ("float32", {})}


def test_ops_with_rules_of_their_own_are_raised_too() -> None:
    """A float16 op in a float32 layer goes up with it, and an op that is safer already stays."""
    policy = Policy(default="float32", layers={"nn.Dense::MatMul": "float16", "head::BiasAdd": "float32"})
    found = asked(raised(policy, NETWORK, {"head": "bfloat16"}))
    assert found["head"] == ("float32", {"BiasAdd": "float32", "MatMul": "bfloat16"})
    assert found["block.dense"] == ("float32", {"MatMul": "float16"})


def test_what_is_safe_already_changes_nothing() -> None:
    """A floor that a layer reaches adds no rule."""
    policy = Policy(default="bfloat16", layers={"head": "float32"})
    assert raised(policy, NETWORK, {"head": "bfloat16", "block": "float16"}) == policy


@pytest.mark.parametrize(
    ("precision", "device", "expected"),
    [
        ("float16", ("float16",), "float32"),
        ("float16", ("float16", "bfloat16"), "bfloat16"),
        ("bfloat16", ("float16", "bfloat16"), "float32"),
        ("float32", ("float16",), None),
        ("auto", ("float16", "bfloat16"), "float32"),
    ],
)
def test_each_precision_has_its_next_safer_one(
    precision: str, device: tuple[LowPrecision, ...], expected: str | None
) -> None:
    """Float16, bfloat16 where the device has it, float32; auto leaves the op lists at once."""
    policy = Policy.model_validate({"default": precision})
    assert safer(resolve(policy, NETWORK)[0], device) == expected


def holds_under_one_name(outline: NetworkOutline) -> bool:
    """Whether a Cell with two names holds another, which would then have two names too."""
    shared = [cell.path for cell in outline.cells if cell.aliases]
    return any(cell.path.startswith(f"{path}.") for path in shared for cell in outline.cells)


@settings(deadline=None, max_examples=400)
@given(
    outlines().filter(lambda outline: not holds_under_one_name(outline)),
    st.lists(rules, max_size=5).map(dict),
    st.data(),
)
def test_nothing_but_the_named_layers_changes(
    outline: NetworkOutline, layers: dict[str, str], data: st.DataObject
) -> None:
    """Of any network under any rules, raised layers reach their floor, and all others are the same."""
    policy = Policy.model_validate({"default": "float16", "layers": layers})
    try:
        before = asked(policy, outline)
    except InputError:
        assume(False)
    paths = st.sampled_from(sorted(before))
    least: st.SearchStrategy[Precision] = st.sampled_from(["bfloat16", "float32"])
    floors = data.draw(st.dictionaries(paths, least, min_size=1, max_size=3))
    after = asked(raised(policy, outline, floors), outline)
    assert {path: now for path, now in after.items() if path not in floors} == {
        path: then for path, then in before.items() if path not in floors
    }
    for path, floor in floors.items():
        precision, ops = after[path]
        assert min(SAFETY[each] for each in (precision, *ops.values())) >= SAFETY[floor]
        assert set(ops) == set(before[path][1])
