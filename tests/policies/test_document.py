"""Bad input of every kind, with the exact message: file, line, column, field, rule, value, what is allowed."""

from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field

from halfwise.policies import InputError, JsonMapping, Policy, parse_policy, read_document
from halfwise.policies.yaml_nodes import MAX_NODES


def message(text: str) -> str:
    """What a user reads about a wrong policy text."""
    with pytest.raises(InputError) as caught:
        parse_policy(text, "p.yaml")
    return str(caught.value)


ONE_PROBLEM = {
    "default: fp16": "p.yaml:1:10: default: must be one of float32, float16, bfloat16, auto; got 'fp16'",
    "layers:\n  on: flot16": (
        "p.yaml:2:7: layers.on: must be one of float32, float16, bfloat16, auto; got 'flot16'; "
        "did you mean 'float16' or 'bfloat16' or 'float32'?"
    ),
    "layers: {1e-3: no}": ("p.yaml:1:16: layers.1e-3: must be one of float32, float16, bfloat16, auto; got 'no'"),
    "layers: {a: }": "p.yaml:1:12: layers.a: must be one of float32, float16, bfloat16, auto; got null",
    "layers: [a]": "p.yaml:1:9: layers: must be a mapping; got a list",
    "layers:": "p.yaml:1:8: layers: must be a mapping; got null",
    "layers: {a..b: float32}": (
        "p.yaml:1:10: layers.a..b: a layer path is names with dots between them; got 'a..b'"
    ),
    "layers: {'': float32}": "p.yaml:1:10: layers.'': a layer path is names with dots between them; got ''",
    "layers: {a**: float32}": (
        "p.yaml:1:10: layers.a**: '**' stands for whole names: put dots around it; got 'a**'"
    ),
    "layers: {.::Mul: float32}": (
        "p.yaml:1:10: layers..::Mul: the network itself needs no dot before the op: write '::Mul'; got '.::Mul'"
    ),
    "layers: {a::matmul: float32}": (
        "p.yaml:1:10: layers.a::matmul: must name a MindSpore op that computes with floats; got 'matmul'; "
        "did you mean 'MatMul' or 'MatMulExt' or 'BatchMatMul'?"
    ),
    "layers: {a::Mul: auto}": ("p.yaml:1:18: layers.a::Mul: a rule for one op must name a precision, not auto"),
    "layers: {nn.LayrNorm: float32}": (
        "p.yaml:1:10: layers.nn.LayrNorm: must name a layer class of mindspore.nn; got 'nn.LayrNorm'; "
        "did you mean 'nn.LayerNorm' or 'nn.LayerNormExt' or 'nn.Norm'?"
    ),
    "layers: {'type:a.B': float32}": (
        "p.yaml:1:10: layers.type:a.B: 'type:' takes the bare name of a class, such as type:MyNorm; got 'a.B'"
    ),
    "ops: {white_list: [MatMul, Add, MatMul]}": (
        "p.yaml:1:33: ops.white_list[2]: 'MatMul' stands in the list twice"
    ),
    "ops: {white_list: [MatMul], black_list: [Add, MatMul]}": (
        "p.yaml:1:41: ops.black_list: 'MatMul' stands in the white list too; keep one of the two"
    ),
    "ops: {white_list: MatMul}": "p.yaml:1:19: ops.white_list: must be a list; got 'MatMul'",
    "ops: {grey_list: []}": (
        "p.yaml:1:7: ops.grey_list: unknown key; allowed here: black_list, white_list; did you mean 'white_list'?"
    ),
    "lyers: {}": (
        "p.yaml:1:1: lyers: unknown key; allowed here: asked_hash, default, gradients, layers, loss_scaling, "
        "low_precision, made_for, mode, ops, reasons, results, schedule, schema; did you mean 'layers'?"
    ),
    "loss_scaling: {kind: dynamc}": (
        "p.yaml:1:22: loss_scaling.kind: must be one of dynamic, static, none; got 'dynamc'; "
        "did you mean 'dynamic'?"
    ),
    "loss_scaling: {scale: 1}": "p.yaml:1:15: loss_scaling.kind: is required",
    "loss_scaling: {kind: static}": "p.yaml:1:15: loss_scaling.scale: is required",
    "loss_scaling: {kind: static, scale: many}": (
        "p.yaml:1:37: loss_scaling.scale: must be a valid number; got 'many'"
    ),
    "loss_scaling: {kind: dynamic, window: 1e-3}": (
        "p.yaml:1:39: loss_scaling.window: must be a valid integer; got '1e-3'"
    ),
    "loss_scaling: {kind: dynamic, initial: .inf}": (
        "p.yaml:1:40: loss_scaling.initial: must be a valid number; got '.inf'"
    ),
    "loss_scaling: {kind: dynamic, factr: 2}": (
        "p.yaml:1:31: loss_scaling.factr: unknown key; allowed here: factor, initial, kind, window; "
        "did you mean 'factor'?"
    ),
    "gradients: float32": (
        "p.yaml:1:12: gradients: must be follow: anything else is reserved for a later version; got 'float32'"
    ),
    "schedule: cosine": (
        "p.yaml:1:11: schedule: must be null: a schedule is a file of its own that holds policies, with the "
        "schema halfwise/schedule/1; got 'cosine'"
    ),
    "schema: halfwise/policy/2": "p.yaml:1:9: schema: must be halfwise/policy/1; got 'halfwise/policy/2'",
    "results: {a: .nan}": "p.yaml:1:10: results: numbers must be finite",
    "results: {a: 9223372036854775808}": "p.yaml:1:10: results: integers must fit 64 bits",
    f"results: {{a: {'9' * 5000}}}": "p.yaml:1:10: results: integers must fit 64 bits",
    "reasons: {a: 1, b: null}": "p.yaml:1:20: reasons.b: must be a valid string; got null",
    "a: &x 1": "p.yaml:1:4: anchors and aliases are not allowed",
    "a: *x": "p.yaml:1:4: anchors and aliases are not allowed",
    "a: !!python/none x": "p.yaml:1:4: tags are not allowed; got tag:yaml.org,2002:python/none",
    "mode: graph\nmode: graph": "p.yaml:2:1: 'mode' stands twice, first at p.yaml:1:1",
    "layers: {<<: {a: auto}}": "p.yaml:1:10: merge keys are not allowed",
    "? [a, b]\n: c": "p.yaml:1:3: a key must be a single word",
    "a: b: c": "p.yaml:1:5: is not YAML: mapping values are not allowed here",
    "mode: graph\n\tdefault: auto": (
        "p.yaml:2:1: is not YAML: while scanning for the next token, "
        "found character '\\t' that cannot start any token"
    ),
    "mode: graph\nreasons: {a: \x07}": (
        "p.yaml:2:14: is not YAML: the character U+0007 must be written as an escape"
    ),
    'reasons: {a: "\\ud800"}': "p.yaml:1:14: holds half of a surrogate pair",
    "results: " + "[" * 40: "p.yaml:1:41: must not nest deeper than 32 levels",
    "mode: graph\n---\nmode: graph": (
        "p.yaml:2:1: is not YAML: expected a single document in the stream, but found another document"
    ),
    "- a": "p.yaml:1:1: must be a mapping of fields; got a list",
    "my policy.yaml": "p.yaml:1:1: must be a mapping of fields; got 'my policy.yaml'",
    "": "p.yaml: must be a mapping of fields; got nothing",
    "O4": "p.yaml: no built-in policy is called 'O4'; there are O0, O1, O2, O3, auto, cv, nlp",
    "Auto": (
        "p.yaml: no built-in policy is called 'Auto'; there are O0, O1, O2, O3, auto, cv, nlp; "
        "did you mean 'auto'?"
    ),
    "x" * (2**20 + 1): "p.yaml: is larger than 1048576 characters",
}


@pytest.mark.parametrize("text", ONE_PROBLEM, ids=lambda text: repr(text[:40]))
def test_a_wrong_text_gets_one_clear_message(text: str) -> None:
    """The message names the place, the field, the rule, the value, and what is allowed or meant."""
    assert message(text) == ONE_PROBLEM[text]


def test_all_problems_of_a_text_are_listed_in_its_order() -> None:
    """One line for each problem; the first of the text comes first."""
    text = "mode: grahp\nlayers:\n  b: x\n  a: y\ndefault: 3\n"
    assert [line.rpartition(": must")[0] for line in message(text).splitlines()] == [
        "p.yaml:1:7: mode",
        "p.yaml:3:6: layers.b",
        "p.yaml:4:6: layers.a",
        "p.yaml:5:10: default",
    ]


def test_unusual_keys_are_shown_escaped() -> None:
    """A control character in a key does not reach the terminal."""
    assert message('layers: {"\\u001b[31m": x}').startswith(r"p.yaml:1:24: layers.'\x1b[31m': must be one of")


def test_keys_are_their_literal_text() -> None:
    """Layer names that YAML 1.1 takes for booleans, numbers or null stay names (case 7)."""
    layers = ["on", "no", "1e-3", "null", "~", "0x10", "größe", "<script>", "0.conv"]
    policy = parse_policy("layers: {" + ", ".join(f"{name}: float16" for name in layers) + "}")
    assert sorted(policy.layers) == sorted(layers)


def test_unquoted_values_become_what_the_field_needs() -> None:
    """Numbers such as 1e3 are numbers in number fields and text in text fields."""
    policy = parse_policy("loss_scaling: {kind: dynamic, initial: 1e3}\nasked_hash: 1e-3\nreasons: {a: no}")
    assert policy == Policy.model_validate(
        {
            "loss_scaling": {"kind": "dynamic", "initial": 1000},
            "asked_hash": "1e-3",
            "reasons": {"a": "no"},
        }
    )


def test_free_form_values_follow_the_yaml_core_schema() -> None:
    """Unquoted true, null and numbers mean themselves; no, on, and everything quoted is text."""
    policy = parse_policy(
        "results:\n"
        "  a: [1e-3, 12, -.5, 1., true, null, ~, no, on, 0x10, 1_000, 12:30:45, 2026-01-01]\n"
        "  b: ['1', \"true\"]"
    )
    assert policy.results == {
        "a": (0.001, 12, -0.5, 1.0, True, None, None, "no", "on", "0x10", "1_000", "12:30:45", "2026-01-01"),
        "b": ("1", "true"),
    }
    assert '"a": [0.001, 12, -0.5, 1.0, true, null, null, "no"' in str(policy)


def test_any_model_can_be_read() -> None:
    """Other files of the project get the same errors: nested lists of models, unknown keys, required fields."""

    class Part(BaseModel):
        model_config = ConfigDict(extra="forbid")
        size: Annotated[int, Field(ge=1)]

    class Whole(BaseModel):
        model_config = ConfigDict(extra="forbid")
        parts: list[Part]
        version: str = "1"
        extra: JsonMapping = Field(default_factory=dict)

    assert read_document("parts: [{size: 3}]\nextra: {a: 1}", "w", Whole).parts[0].size == 3
    with pytest.raises(InputError) as caught:
        read_document("parts: [{size: 3}, {siz: 0}]", "w", Whole, required=("version",))
    assert str(caught.value).splitlines() == [
        "w:1:1: version: is required",
        "w:1:20: parts[1].size: is required",
        "w:1:21: parts[1].siz: unknown key; allowed here: size; did you mean 'size'?",
    ]


def test_of_very_many_problems_fifty_are_shown() -> None:
    """A file that is wrong all over is answered with fifty lines and the number of the others."""
    names = ", ".join(f"nn.Layer{number}: float16" for number in range(300))
    lines = message(f"layers: {{{names}}}").splitlines()
    assert len(lines) == 51
    assert lines[0].startswith(
        "p.yaml:1:10: layers.nn.Layer0: must name a layer class of mindspore.nn; got 'nn.Layer0'"
    )
    assert lines[-1] == "p.yaml: and 250 more problems"


def test_near_misses_are_looked_up_for_what_is_shown_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look-up takes milliseconds: thousands of wrong names cost no more of them than fifty."""
    looked_up: list[str] = []
    monkeypatch.setattr("halfwise.policies.problems.hint", lambda word, _: looked_up.append(word) or "")
    monkeypatch.setattr("halfwise.policies.near_miss.hint", lambda word, _: looked_up.append(word) or "")
    message("ops: {white_list: [" + ", ".join(f"Mat{number}" for number in range(300)) + "]}")
    message("\n".join(f"key{number}: 1" for number in range(300)))
    assert looked_up == [f"Mat{number}" for number in range(50)] + [f"key{number}" for number in range(50)]


def test_a_document_is_bounded_in_nodes() -> None:
    """The reader stops at the first key, value or item beyond its limit, wherever that stands."""
    items = "1," * MAX_NODES
    at = len("results: {a: [") + 2 * (MAX_NODES - 5) + 1
    assert message(f"results: {{a: [{items}]}}") == (
        f"p.yaml:1:{at}: must not hold more than 100,000 keys, values and items"
    )


def test_long_and_wild_words_are_shortened() -> None:
    """A key or value of any length takes one short line, without control characters."""
    for text in (
        f"default: {'x' * 10**5}",
        f"{'k' * 10**3}: 1",
        f"layers: {{nn.{'X' * 900}: float16}}",
        f"layers: {{{'y' * 900}: z}}",
        f"'{'k' * 900}': 1\n'{'k' * 900}': 1",
        "a: !<%1b[2J> x",
        "a: !<tag:x,2000:" + "y" * 900 + "> x",
    ):
        assert len(message(text)) < 600
        assert message(text).isprintable()
