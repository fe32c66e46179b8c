"""Two policies side by side: entries of the files, ops of the compiled step, prices."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from finished_study import add_trial
from hypothesis import given
from hypothesis import strategies as st
from price_tables import make_row, make_table
from program import run_halfwise

from halfwise.experiments.home import Home
from halfwise.experiments.named_policy import policy_named
from halfwise.experiments.policy_diff import FieldChange, OpChange, field_changes, op_changes
from halfwise.experiments.policy_diff_words import field_lines
from halfwise.policies import BUILTIN, parse_policy, save_policy
from halfwise.policies.errors import InputError

halfwise = partial(run_halfwise, timeout_s=120)
A = parse_policy(
    "{default: float16, layers: {head: float32, body: float16},"
    " ops: {white_list: [MatMul, Add], black_list: [Exp]}}"
)
B = parse_policy(
    "{default: auto, layers: {head: bfloat16, tail: auto}, ops: {white_list: [MatMul], black_list: [Add]},"
    " loss_scaling: {kind: none}, mode: pynative}"
)

policies = st.builds(
    lambda default, layers, white: parse_policy(
        json.dumps({"default": default, "layers": layers, "ops": {"white_list": white}})
    ),
    st.sampled_from(["float32", "float16", "auto"]),
    st.dictionaries(st.sampled_from(["a", "b", "a.*", "nn.Dense"]), st.sampled_from(["float32", "float16"])),
    st.lists(st.sampled_from(["MatMul", "Add", "Exp"]), unique=True),
)


def test_every_entry_that_differs_is_named_once():
    """Plain fields, rules by pattern, ops by the list that they stand in; what is equal is left out."""
    assert field_changes(A, B) == (
        FieldChange("default", None, "float16", "auto"),
        FieldChange("mode", None, "graph", "pynative"),
        FieldChange("loss_scaling", None, "dynamic", "none"),
        FieldChange("layers", "body", "float16", None),
        FieldChange("layers", "head", "float32", "bfloat16"),
        FieldChange("layers", "tail", None, "auto"),
        FieldChange("ops", "Add", "white list", "black list"),
        FieldChange("ops", "Exp", "black list", None),
    )


@given(policies, policies)
def test_the_way_back_is_the_same_with_sides_changed(a, b):
    """Differences from B to A are those from A to B turned round, and there are none only between equals."""
    back = {FieldChange(each.field, each.name, each.after, each.before) for each in field_changes(b, a)}
    assert set(field_changes(a, b)) == back
    assert (not back) == (a.digest == b.digest)


def test_provenance_is_no_difference():
    """Reasons and results change nothing that is computed."""
    assert field_changes(A, A.replace(reasons={"head": "because"}, results={"quality": 1})) == ()
    assert list(field_lines(())) == ["the policies ask the same, entry by entry"]


def op(number: int, layer: str | None, name: str, precision: str | None, direction: str = "forward"):
    """One op of a step that computes in a precision."""
    return make_row(
        number, name, [((2,), precision)], ((2,), precision), layer=layer, direction=direction,
        compute_precision=precision,
    )  # fmt: skip


def test_ops_are_compared_by_layer_kind_and_direction():
    """Equal changes of several directions are one; ops that differ within a layer are counted; others are none."""
    before = make_table(
        op(0, "a", "MatMul", "float32"),
        op(1, "a", "MatMul", "float32", "gradient"),
        op(2, "b", "Add", "float32"),
        op(3, "b", "Add", "float16"),
        op(4, "b", "Exp", "float32"),
        op(5, None, "Mul", "float32", "update"),
        op(6, "c", "Gather", None),
        op(7, "d", "Sub", "float32"),
    )
    after = make_table(
        op(9, "a", "MatMul", "float16"),
        op(8, "a", "MatMul", "float16", "gradient"),
        op(7, "b", "Add", "float16"),
        op(6, "b", "Add", "float16"),
        op(5, "b", "Exp", "float32"),
        op(4, None, "Mul", "float16", "update"),
    )
    assert op_changes(before, after) == (
        OpChange("a", "MatMul", ("forward", "gradient"), "float32", "float16"),
        OpChange("b", "Add", ("forward",), "1 float16, 1 float32", "float16"),
        OpChange("d", "Sub", ("forward",), "float32", "not there"),
    )
    assert op_changes(before, before) == ()


def test_a_diff_on_a_workload_says_what_changes_op_by_op():
    """The compiled step tells which ops of which layers change, and the price what that brings."""
    asked = ("diff", "{default: float32}", "{layers: {first: float16}}", "--workload", "tiny_workloads:make_tiny")
    document = json.loads(halfwise(*asked, "--format", "json").stdout)
    assert document["fields"] == [{"field": "layers", "name": "first", "before": None, "after": "float16"}]
    changed = {(each["layer"], each["op"]): (each["before"], each["after"]) for each in document["ops"]}
    assert changed["first", "MatMul"] == ("float32", "float16")
    assert {layer for layer, _ in changed} == {"first"}
    assert [price["casts"] > 0 for price in document["prices"]] == [False, True]
    shown = halfwise(*asked).stdout
    assert "  first: MatMul float32 -> float16 (forward, gradient)" in shown
    assert re.search(r"priced on a100-tf32, not measured:\n  step: .* ms -> .* ms, \d\.\d\dx the speed", shown)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with the study `small`: trials 0 and 4."""
    place = Home(tmp_path / "home")
    folder = place.study_folder("small")
    add_trial(folder, 0, "O0", 1.0, 0.9)
    add_trial(folder, 4, "float16", 2.0, 0.9)
    folder.study_file.write_text("{}", encoding="utf-8")
    return place


def test_a_policy_is_found_by_any_of_its_names(home: Home, tmp_path: Path, monkeypatch):
    """A level, a text, a trial, what a study chose; a file comes before a study of the same name."""
    monkeypatch.chdir(tmp_path)
    assert policy_named("O2", home) == BUILTIN["O2"]
    assert policy_named("{default: auto}", home).default == "auto"
    assert policy_named("small:4", home).default == "float16"
    save_policy(BUILTIN["O3"], home.study_folder("small").best_policy)
    assert policy_named("small", home).digest == BUILTIN["O3"].digest
    save_policy(BUILTIN["O1"], tmp_path / "small")
    assert policy_named("small", home).digest == BUILTIN["O1"].digest


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("small:3", "study small has no finished trial 3; finished are 0 to 4"),
        ("small", "study small has chosen no policy yet; name a trial as small:NUMBER"),
        ("smal", "there is no study 'smal' in .*; did you mean 'small'"),
        ("smal:1", "there is no study 'smal' in .*; did you mean 'small'"),
        ("nowhere.yaml", r"nowhere\.yaml: no such policy file"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(home: Home, name: str, pattern: str):
    """The message says what was looked for, and what there is."""
    with pytest.raises(InputError, match=pattern):
        policy_named(name, home)
