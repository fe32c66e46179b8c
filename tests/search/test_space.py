import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies import BUILTIN, NoLossScaling, parse_policy
from halfwise.policies.errors import InputError
from halfwise.search.space import LayerGroup, SearchSpace

from .fake_search import small_space


def choices(space: SearchSpace) -> st.SearchStrategy[dict[str, str]]:
    """Any allowed choice of every parameter."""
    return st.fixed_dictionaries({name: st.sampled_from(allowed) for name, allowed in space.parameters().items()})


def test_parameters_come_layers_first_in_the_order_given() -> None:
    """The order is fixed, because samplers draw in it."""
    assert list(small_space(2).parameters().items()) == [
        ("layer:body.0", ("float16", "float32", "auto")),
        ("layer:body.1", ("float16", "float32", "auto")),
        ("op:MatMul", ("white", "black")),
        ("op:Softmax", ("unlisted", "white", "black")),
    ]


def test_an_unlisted_product_is_not_proposed() -> None:
    """MindSpore refuses low data with float32 weights in products and convolutions, so a list must name them."""
    space = small_space(1, ("Conv2D", "MatMul", "Add"))
    assert [space.parameters()[f"op:{op}"] for op in space.ops] == [
        ("white", "black"),
        ("white", "black"),
        ("unlisted", "white", "black"),
    ]


def test_a_policy_has_a_rule_for_every_path_of_a_group() -> None:
    """Aliases and tied blocks get the rule of their group, and ops the list that was chosen."""
    space = dataclasses.replace(
        small_space(), groups=(LayerGroup("tied", ("a.0", "a.1")), LayerGroup("head", ("head",)))
    )
    policy = space.policy(
        {"layer:tied": "float16", "layer:head": "auto", "op:MatMul": "white", "op:Softmax": "black"}
    )
    assert dict(policy.layers) == {"a.0": "float16", "a.1": "float16", "head": "auto"}
    assert policy.default == "auto"
    assert policy.ops.white_list == ("MatMul",)
    assert policy.ops.black_list == ("Softmax",)
    assert (policy.low_precision, policy.mode, policy.loss_scaling) == (
        "float16",
        "graph",
        space.loss_scaling,
    )


@given(choices(small_space()))
def test_every_choice_spells_a_policy_that_parses_back(chosen: dict[str, str]) -> None:
    """A proposal travels as text, so every one of them must survive that."""
    policy = small_space().policy(chosen)
    assert parse_policy(str(policy)) == policy
    assert {path: chosen[f"layer:{path}"] for path in policy.layers} == dict(policy.layers)


@given(choices(small_space()), choices(small_space()))
def test_different_choices_have_different_digests(one: dict[str, str], other: dict[str, str]) -> None:
    """The digest tells proposals apart exactly when their choices differ (case 28)."""
    space = small_space()
    assert (space.policy(one).digest == space.policy(other).digest) == (one == other)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups": ()}, "nothing to search: the network has no layer"),
        ({"layer_choices": ()}, "nothing to search: no precision"),
        ({"groups": (LayerGroup("a", ()),)}, "'a' must name at least one layer path"),
        (
            {"groups": (LayerGroup("a", ("x",)), LayerGroup("a", ("y",)))},
            "layer group may occur once.*twice: a",
        ),
        (
            {"groups": (LayerGroup("a", ("x",)), LayerGroup("b", ("x",)))},
            "layer path may occur once.*twice: x",
        ),
        ({"ops": ("MatMul", "MatMul")}, "op may occur once.*twice: MatMul"),
        ({"layer_choices": ("auto", "auto")}, "layer choice may occur once.*twice: auto"),
    ],
)
def test_a_space_without_choice_or_with_a_name_twice_is_refused(changes: dict[str, object], message: str) -> None:
    """Each fault is an input error that names what is wrong."""
    with pytest.raises(InputError, match=message):
        dataclasses.replace(small_space(), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layer:body.0": "float61"}, r"choice for layer:body.0 'float61'.*did you mean 'float16'"),
        ({"layer:body.00": "float16"}, r"unknown parameter 'layer:body.00'"),
    ],
)
def test_choices_outside_the_space_are_refused(changes: dict[str, str], message: str) -> None:
    """A parameter or a value that the space does not hold is named, with what is allowed."""
    chosen = {name: allowed[0] for name, allowed in small_space().parameters().items()}
    with pytest.raises(InputError, match=message):
        small_space().policy({**chosen, **changes})


def test_the_network_itself_may_be_a_layer() -> None:
    """A network that is one Cell has the path "", which a rule writes as a dot."""
    space = dataclasses.replace(small_space(ops=()), groups=(LayerGroup("network", ("",)),))
    assert dict(space.policy({"layer:network": "float16"}).layers) == {".": "float16"}


def test_missing_choices_are_listed() -> None:
    """A policy is only made of a full set of choices."""
    with pytest.raises(InputError, match=r"these have none: layer:body.0, op:MatMul, op:Softmax"):
        small_space(1).policy({})


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": (LayerGroup("body.0", ("body.0",)),)},
        {"layer_choices": ("float16", "float32")},
        {"ops": ("Softmax", "MatMul")},
        {"low_precision": "bfloat16"},
        {"loss_scaling": NoLossScaling()},
        {"mode": "pynative"},
    ],
)
def test_the_fingerprint_changes_with_the_content(changes: dict[str, object]) -> None:
    """Equal spaces share a fingerprint, and any change of content shows in it (case 26)."""
    assert small_space().fingerprint == small_space().fingerprint
    assert len(small_space().fingerprint) == 12
    assert dataclasses.replace(small_space(), **changes).fingerprint != small_space().fingerprint


def test_the_space_describes_itself() -> None:
    """Small counts are exact, large ones a power of ten."""
    assert small_space(1, ()).describe() == "1 layer x {float16, float32, auto}: 3 policies"
    assert small_space(17, tuple("abcdefghi")).describe() == (
        "17 layers x {float16, float32, auto}, 9 ops x {unlisted, white, black}: 10^12.4 policies"
    )
    tied = dataclasses.replace(small_space(), groups=(LayerGroup("b", ("b.0", "b.1")), LayerGroup("c", ("c",))))
    assert tied.describe().startswith("2 groups of 3 layers x {float16, float32, auto}, ")
    # 3^6 layers' choices, two lists for the product, three for the other op.
    assert small_space(6).describe() == (
        "6 layers x {float16, float32, auto}, 1 op x {white, black}, "
        "1 op x {unlisted, white, black}: 4,374 policies"
    )


def test_the_built_in_levels_are_policies_of_their_own() -> None:
    """No proposal of a space is taken for a built-in level: rules are explicit, layer by layer."""
    all_float32 = {name: "float32" if name[0] == "l" else "black" for name in small_space().parameters()}
    assert small_space().policy(all_float32).digest not in {policy.digest for policy in BUILTIN.values()}
