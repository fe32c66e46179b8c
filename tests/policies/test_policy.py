import copy
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from halfwise.policies import (
    DynamicLossScaling,
    NoLossScaling,
    OpLists,
    Policy,
    StaticLossScaling,
    parse_policy,
)


def test_an_empty_policy_leaves_everything_in_float32() -> None:
    """What a policy does not mention stays as it is, and the text says only its version."""
    policy = Policy()
    assert (policy.default, policy.mode, policy.loss_scaling) == ("float32", "graph", DynamicLossScaling())
    assert str(policy) == '{"schema": "halfwise/policy/1"}'


def test_the_text_holds_what_differs_from_the_defaults_in_a_fixed_order() -> None:
    """Keys follow the order of the fields, names within a field the alphabet; numbers are short."""
    policy = Policy(
        mode="pynative",
        layers={"b": "float16", "a::Mul": "float32"},
        loss_scaling=StaticLossScaling(scale=1024.0),
        ops=OpLists(white_list=("MatMul", "Conv2D")),
        default="auto",
    )
    assert str(policy) == (
        '{"schema": "halfwise/policy/1", "default": "auto", "layers": {"a::Mul": "float32", "b": "float16"}, '
        '"ops": {"white_list": ["Conv2D", "MatMul"]}, "loss_scaling": {"kind": "static", "scale": 1024}, '
        '"mode": "pynative"}'
    )


def test_the_order_of_rules_and_list_entries_has_no_meaning() -> None:
    """Policies that differ only in the order of writing are equal, in hash and digest too."""
    one = Policy(layers={"a": "float16", "b": "auto"}, ops=OpLists(black_list=("Exp", "Log")))
    other = Policy(layers={"b": "auto", "a": "float16"}, ops=OpLists(black_list=("Log", "Exp")))
    assert one == other
    assert hash(one) == hash(other)
    assert one.digest == other.digest
    assert one != one.replace(default="float16")
    assert one != str(one)


def test_the_digest_is_over_what_is_asked_only() -> None:
    """Results and origin do not change the digest; any asked field does."""
    policy = Policy(default="float16")
    assert len(policy.digest) == 12
    told = policy.replace(results={"q": 1}, made_for={"net": "x"}, asked_hash="abc", reasons={"a": "b"})
    assert told.digest == policy.digest
    assert told != policy
    changes: list[dict[str, Any]] = [
        {"default": "float32"},
        {"low_precision": "bfloat16"},
        {"layers": {"a": "float32"}},
        {"ops": {"black_list": ["Exp"]}},
        {"loss_scaling": NoLossScaling()},
        {"mode": "pynative"},
    ]
    digests = {policy.replace(**change).digest for change in changes}
    assert len(digests | {policy.digest}) == len(changes) + 1


def test_a_policy_cannot_be_changed() -> None:
    """Fields, mappings and nested free-form values all refuse assignment."""
    policy = Policy(layers={"a": "float16"}, results={"trials": [1, {"x": 2}]})
    with pytest.raises(ValidationError, match="frozen"):
        policy.default = "auto"  # pyright: ignore[reportAttributeAccessIssue]
    for mapping in (policy.layers, policy.results, policy.made_for, policy.reasons):
        with pytest.raises(TypeError, match="item assignment"):
            mapping["a"] = "float32"  # pyright: ignore[reportIndexIssue]
    assert policy.results["trials"] == (1, {"x": 2})


def test_a_policy_does_not_share_what_it_was_built_from() -> None:
    """Changing the dict afterwards leaves the policy alone."""
    layers: dict[str, Any] = {"a": "float16"}
    policy = Policy(layers=layers)
    layers["a"] = "float32"
    assert policy.layers["a"] == "float16"


def test_policies_travel_between_processes() -> None:
    """Pickling and deep copies give an equal value."""
    policy = Policy(layers={"a": "float16"}, results={"x": [1, {"y": None}]})
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert copy.deepcopy(policy) == policy


def test_replace_checks_what_it_is_given() -> None:
    """A copy is validated as a new policy would be, unknown fields included."""
    policy = Policy(layers={"a": "float16"}, loss_scaling=NoLossScaling())
    changed = policy.replace(default="auto", layers={"b": "float32"})
    assert changed == Policy(default="auto", layers={"b": "float32"}, loss_scaling=NoLossScaling())
    with pytest.raises(ValidationError, match="default"):
        policy.replace(default="fp16")
    with pytest.raises(ValidationError, match="defalt"):
        policy.replace(defalt="float16")


def test_reserved_fields_say_that_they_are_reserved() -> None:
    """Gradients are for a later version and schedules have their own file; the message says so."""
    with pytest.raises(ValidationError, match="reserved for a later version; got 'float32'"):
        Policy.model_validate({"gradients": "float32"})
    with pytest.raises(ValidationError, match="a schedule is a file of its own that holds policies"):
        Policy.model_validate({"schedule": 7})


def test_loss_scaling_refuses_what_no_training_step_could_use() -> None:
    """Scales are float32 numbers from 1, the factor is a whole number beyond one, the window at least one step."""
    wrong: list[tuple[type[Any], dict[str, Any]]] = [
        (DynamicLossScaling, {"initial": float("inf")}),
        (DynamicLossScaling, {"initial": float("nan")}),
        (DynamicLossScaling, {"initial": 0.5}),
        (DynamicLossScaling, {"factor": 1}),
        (DynamicLossScaling, {"factor": 1.5}),
        (DynamicLossScaling, {"window": 0}),
        (StaticLossScaling, {"scale": -1.0}),
        (StaticLossScaling, {"scale": 1e39}),
        (StaticLossScaling, {}),
    ]
    for scaling, values in wrong:
        with pytest.raises(ValidationError):
            scaling(**values)


def test_free_form_values_must_be_json_that_reads_back() -> None:
    """No NaN, no infinity, no half surrogates, no number or nesting that a reader would refuse."""
    deep: Any = 1
    for _ in range(30):
        deep = [deep]
    wrong: list[Any] = [float("nan"), float("inf"), 2**63, "\ud800", {"\ud800": 1}, deep]
    for value in wrong:
        with pytest.raises(ValidationError):
            Policy(results={"x": value})
    policy = Policy(results={"x": deep[0]})
    assert parse_policy(str(policy)) == policy


def test_notes_name_lists_and_autos_that_change_nothing() -> None:
    """An auto without a white list, and a white list without auto, are allowed but said (case 10)."""
    auto = Policy(default="auto")
    assert auto.notes == ("auto is asked for, but the white list is empty: auto lowers no op by itself",)
    idle = Policy(ops=OpLists(white_list=("MatMul",)))
    assert idle.notes == ("the white list changes nothing: neither the default nor a rule is auto",)
    assert Policy(layers={"a": "auto"}, ops=OpLists(white_list=("MatMul",))).notes == ()
    assert Policy(default="float16", ops=OpLists(black_list=("Exp",))).notes == ()
