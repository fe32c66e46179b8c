"""Policies in the forms of other programs: what a file does is held against the policy itself, op by op."""

import ast
import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest
from fresh_process import in_fresh_process
from hypothesis import given
from hypothesis import strategies as st
from program import SUPPORT, run_halfwise

from halfwise.evaluators.survey_result import Survey, SurveyedCell
from halfwise.experiments.exports import FORMS, Subject, rewritten_source, subject_of
from halfwise.experiments.workloads import resolve_for_pricing
from halfwise.policies import InputError, Policy, parse_policy

halfwise = partial(run_halfwise, timeout_s=120)

TINY = ("tiny_workloads:make_tiny", "{default: float16, layers: {norm: float32}, ops: {black_list: [ReLU]}}")
FUNCTIONS = (
    "tiny_workloads:make_functions",
    "{default: float16, layers: {first: float32, 'second::Softmax': float32},"
    " ops: {black_list: [Exp]}, loss_scaling: {kind: static, scale: 512}}",
)
HELPING = ("engine_workloads:make_helping", "{default: float16, layers: {'::Tanh': float32, first: float32}}")
NORMS = ("tabular-mlp", "{default: float16, layers: {nn.BatchNorm1d: float32, 'features::Mul': float32}}")
BUILT_IN = [
    ("digits-resnet", "auto"),
    ("digits-resnet", "O3"),
    (
        "text-transformer",
        "{default: float16, layers: {'blocks.*.attention::Mul': float32, nn.LayerNorm: float32}}",
    ),
    ("text-transformer", "O1"),
]


@pytest.mark.parametrize(
    ("workload", "policy"),
    [TINY, FUNCTIONS, NORMS, *(pytest.param(*each, marks=pytest.mark.full) for each in BUILT_IN)],
)
def test_the_python_file_gives_the_policys_own_op_table(workload, policy, tmp_path):
    """The exported file compiles to the same step as the policy: each op, its types, its layer, each cast."""
    file = tmp_path / "precisions.py"
    subject = subject_of(parse_policy(policy), "made", workload, SUPPORT)
    file.write_text(FORMS["python"](subject).text, encoding="utf-8")
    theirs, ours = (
        in_fresh_process("export_jobs:asked_ops", workload=workload, policy=policy, file=each)
        for each in (str(file), None)
    )
    assert sorted(map(str, theirs)) == sorted(map(str, ours))
    assert any("float16" in str(op) for op in ours)
    assert "halfwise." not in file.read_text(encoding="utf-8").replace("`halfwise export`", "")


@pytest.mark.parametrize(
    ("workload", "policy"),
    [TINY, HELPING, NORMS, *(pytest.param(*each, marks=pytest.mark.full) for each in BUILT_IN)],
)
def test_the_source_file_gives_the_policys_own_op_table(workload, policy, tmp_path):
    """The exported constructs compile to the policy's step: each op with its types, and as many casts at most."""
    file = tmp_path / "constructs.py"
    exported = rewritten_source(parse_policy(policy), "made", resolve_for_pricing(workload), SUPPORT)
    file.write_text(exported.text, encoding="utf-8")
    theirs, ours = (
        in_fresh_process(
            "export_jobs:asked_ops", workload=workload, policy=policy, file=each, setter="set_constructs"
        )
        for each in (str(file), None)
    )
    assert _without_layers(theirs) == _without_layers(ours)
    assert len(theirs) <= len(ours)
    assert " = cast_floats(float16, " in exported.text
    assert "halfwise." not in exported.text.replace("`halfwise export`", "")
    assert len(exported.lost) == 1


def _without_layers(ops):
    """Direction, op, shape and types of each op but casts: which layer a cast is for is not always certain."""
    return sorted(str([row[0], *row[2:]]) for row in ops if row[2] != "Cast")


def test_code_that_takes_no_casts_is_not_exported(tmp_path):
    """Exit code 2 with class, line and reason, and no file."""
    asked = ("export", "{default: float16}", "--workload", "engine_workloads:make_gathering", "--as", "source")
    result = halfwise(*asked, "-o", str(tmp_path / "file"))
    assert (result.returncode, (tmp_path / "file").exists()) == (2, False)
    assert "Gathering, engine_workloads.py:" in result.stderr
    assert "which may be a tensor" in result.stderr


def test_the_python_file_scales_as_the_policy_and_refuses_other_networks(tmp_path):
    """The loss scaler is of the policy's kind with its figures; a network with other layers is named as such."""
    for kind in ("{kind: static, scale: 512}", "{kind: none}", "{initial: 1024, factor: 4, window: 7}"):
        policy = "{default: float16, loss_scaling: " + kind.replace("{i", "{kind: dynamic, i") + "}"
        file = tmp_path / f"scaled_{len(kind)}.py"
        file.write_text(FORMS["python"](subject(policy, CELLS)).text, encoding="utf-8")
        exported, own = in_fresh_process("export_jobs:scalers", policy=policy, file=str(file))
        assert exported == own
    said = in_fresh_process("export_jobs:refusal", file=str(file))
    assert said.startswith("the network has other layers than this file: ['0', 'add', 'first',")


def cell(path: str, kind: str, *ops: str) -> SurveyedCell:
    """A Cell of a class with ops of its own."""
    return SurveyedCell(path=path, aliases=(), type_names=(kind,), ops=ops)


CELLS = (
    cell("", "Net", "ReLU"),
    cell("first", "nn.Dense", "MatMul", "BiasAdd"),
    cell("second", "nn.Dense", "MatMul", "BiasAdd"),
    cell("norm", "nn.LayerNorm", "LayerNorm"),
    cell("add", "Sum", "Add"),
)


def subject(policy: str | Policy, cells: tuple[SurveyedCell, ...], title: str = "made") -> Subject:
    """A policy on a network of these Cells."""
    survey = Survey(
        workload="small", metric="loss", direction="minimize", batch_size=1, trial_steps=1, full_steps=10,
        parameters=1, mindspore_version="2.10.0", cells=cells,
    )  # fmt: skip
    return Subject(policy if isinstance(policy, Policy) else parse_policy(policy), title, survey)


def test_amp_lists_hold_what_is_low_everywhere_and_say_the_rest():
    """A class is listed where all its layers are low, a primitive where all the user's are; the rest is named."""
    found = FORMS["amp-lists"](subject("{default: float16, layers: {second: float32, norm: float32}}", CELLS))
    assert '\n    primitive("Add"),\n    primitive("ReLU"),\n]' in found.text
    assert "nn.Dense," not in found.text
    assert "dtype=ms.float16)" in found.text
    assert found.lost[0] == (
        "nn.Dense computes 1 in float16, 1 in float32, which a list cannot tell apart: first would stay in float32"
    )
    every = FORMS["amp-lists"](subject("{default: bfloat16}", CELLS))
    assert "    nn.Dense,\n    nn.LayerNorm,\n    primitive" in every.text
    assert "dtype=ms.bfloat16)" in every.text
    assert list(every.lost) == ["loss scaling is not in the lists: the policy asks for dynamic"]


def test_a_primitive_that_layers_hold_too_is_named():
    """A listed primitive goes low inside MindSpore's own layers as well, whatever the policy asks there."""
    cells = (cell("", "Net", "MatMul"), cell("head", "nn.Dense", "MatMul", "BiasAdd"))
    found = FORMS["amp-lists"](subject("{default: float16, layers: {head: float32}}", cells))
    assert "MatMul is in the list, and goes low in head too" in found.lost


def test_the_amp_lists_lower_what_they_name(tmp_path):
    """MindSpore takes the lists, and its step computes what they name in float16 and the rest in float32."""
    policy = "{default: float32, layers: {nn.Dense: float16}}"
    file = tmp_path / "amp_lists.py"
    made = subject_of(parse_policy(policy), "made", "tiny_workloads:make_tiny", SUPPORT)
    file.write_text(FORMS["amp-lists"](made).text, encoding="utf-8")
    ops = in_fresh_process("export_jobs:asked_under_lists", workload="tiny_workloads:make_tiny", file=str(file))
    forward = {op: outputs for direction, _, op, _, _, outputs in ops if direction == "forward"}
    assert forward["MatMul"] == "float16"
    assert forward["LayerNorm"] == "float32"


def test_a_mixlist_is_white_where_all_is_low_and_black_where_anything_is_float32():
    """Op types under Ascend's names; a type that differs by layer is black, one that follows is left alone."""
    rules = "{norm: float32, second: float16, 'add::Add': float32}"
    policy = "{default: auto, ops: {white_list: [MatMul]}, layers: " + rules + "}"
    found = FORMS["mixlist"](subject(policy, CELLS))
    assert json.loads(found.text) == {
        "black-list": {"to-add": ["Add", "LayerNorm"]},
        "white-list": {"to-add": ["BiasAdd", "MatMulV2"]},
    }
    assert list(found.lost[:3]) == [
        "BiasAdd goes low everywhere, though it only follows its inputs in first",
        "ReLU follows its inputs: it is left where CANN has it",
        "under MindSpore's own names, as Ascend's are not known here: Add, LayerNorm",
    ]
    differs = FORMS["mixlist"](subject("{default: float16, layers: {second: float32}}", CELLS))
    assert "MatMulV2" in json.loads(differs.text)["black-list"]["to-add"]
    assert "MatMul is float32 in some layers, so it is in all: lost is the low precision of first" in differs.lost


@pytest.mark.parametrize("form", ["amp-lists", "mixlist"])
def test_lists_hold_one_low_precision(form):
    """A policy that asks for both is refused."""
    with pytest.raises(InputError, match="one low precision, but the policy asks for bfloat16 and float16"):
        FORMS[form](subject("{default: float16, layers: {second: bfloat16}}", CELLS))


texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="*.:"), min_size=1, max_size=12)


@given(st.lists(texts, unique=True, min_size=1, max_size=5), st.text(max_size=20))
def test_any_name_of_a_layer_stays_a_name(names, title):
    """Whatever a layer or a study is called, the Python files say it as a text, and the table gives it back."""
    cells = tuple(cell(name, "nn.Dense", "MatMul") for name in names)
    made = subject(Policy(default="float16"), cells, title)
    values = {
        node.targets[0].id: node.value
        for node in ast.parse(FORMS["python"](made).text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert ast.literal_eval(values["LAYERS"]) == dict.fromkeys(names, "float16")
    assert [type(node).__name__ for node in ast.parse(FORMS["amp-lists"](made).text).body][-2:] == [
        "Assign",
        "FunctionDef",
    ]
    json.loads(FORMS["mixlist"](made).text)
    rows = list(csv.DictReader(io.StringIO(FORMS["csv"](made).text, newline="")))
    assert [row["layer"].removeprefix("'") for row in rows] == [name.removeprefix("'") for name in names]
    assert not any(row["layer"].startswith(("=", "+", "-", "@")) for row in rows)


def test_the_table_gives_each_layer_its_precision_rule_and_reason():
    """One row a layer, one more for an op with a rule of its own; reasons are the policy's."""
    policy = parse_policy("{default: float16, layers: {norm: float32, 'add::Add': float32}}").replace(
        reasons={"norm": "it overflows", "add::Add": "=SUM(A1)"}
    )
    rows = list(csv.reader(io.StringIO(FORMS["csv"](subject(policy, CELLS)).text)))
    assert rows == [
        ["layer", "op", "precision", "rule", "reason"],
        ["", "", "float16", "default", ""],
        ["first", "", "float16", "default", ""],
        ["second", "", "float16", "default", ""],
        ["norm", "", "float32", "norm", "it overflows"],
        ["add", "", "float16", "default", ""],
        ["add", "Add", "float32", "add::Add", "'=SUM(A1)"],
    ]


def test_the_command_writes_each_form(tmp_path: Path):
    """A policy and a workload give a file under its own name, and what is lost on standard error."""
    asked = ("export", "{default: float16}", "--workload", "tiny_workloads:make_tiny")
    result = halfwise(*asked, "--as", "mixlist", "-o", str(tmp_path / "mixlist.json"))
    assert result.returncode == 0, result.stderr
    assert "BatchNorm" not in (tmp_path / "mixlist.json").read_text()
    assert "not expressed: loss scaling is not in the lists" in result.stderr
    assert (
        halfwise("export", "O2", "-o", str(tmp_path / "o2.yaml")).stdout
        == f"{tmp_path / 'o2.yaml'}: the policy O2\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["O2", "--as", "csv"], "--as csv goes through the layers of a network: name it with --workload"),
        (["O2", "--rule", "best"], "O2 is one policy: --rule, a speed-up, a drop and --price-for choose among"),
        (["nowhere", "--as", "csv"], "there is no study 'nowhere'"),
        (["O2", "--as", "toml"], "'toml' is not one of"),
    ],
)
def test_what_cannot_be_exported_is_refused(arguments, message, tmp_path):
    """Exit code 2, and the message says what to do."""
    result = halfwise("export", *arguments, "--home", str(tmp_path), "-o", str(tmp_path / "file"))
    assert (result.returncode, message in result.stderr) == (2, True), result.stderr
    assert not (tmp_path / "file").exists()
