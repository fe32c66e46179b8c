import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from halfwise.policies import (
    BUILTIN,
    OP_CLASSES,
    DynamicLossScaling,
    InputError,
    NoLossScaling,
    Policy,
    StaticLossScaling,
    load_policy,
    parse_policy,
    read_document,
    save_policy,
)

NASTY_NAMES = (
    "on",
    "no",
    "1e-3",
    "null",
    "~",
    "0",
    "<script>",
    "größe",
    "层",
    "<<",
    "#",
    "- x",
    "a: b",
    "'",
    '"',
)
PRECISIONS = ("float32", "float16", "bfloat16")

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.sampled_from(NASTY_NAMES) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=".*?:"), min_size=1, max_size=8
)
paths = st.lists(names, min_size=1, max_size=4).map(".".join)
plain_rules = st.dictionaries(paths, st.sampled_from((*PRECISIONS, "auto")), max_size=4)
op_rules = st.dictionaries(
    st.tuples(paths, st.sampled_from(sorted(OP_CLASSES))).map("::".join),
    st.sampled_from(PRECISIONS),
    max_size=3,
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
    | st.sampled_from(NASTY_NAMES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
scalings = st.one_of(
    st.just(NoLossScaling()),
    st.builds(lambda scale: StaticLossScaling(scale=scale), st.floats(1, 1e30)),
    st.builds(
        lambda initial, factor, window: DynamicLossScaling(initial=initial, factor=factor, window=window),
        st.floats(1, 1e30),
        st.integers(2, 1000),
        st.integers(1, 10**9),
    ),
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any policy, with the names that YAML and terminals stumble over."""
    ops = draw(st.lists(st.sampled_from(sorted(OP_CLASSES)), unique=True, max_size=6))
    middle = len(ops) // 2
    fields: dict[str, Any] = {
        "default": draw(st.sampled_from((*PRECISIONS, "auto"))),
        "low_precision": draw(st.sampled_from(("float16", "bfloat16"))),
        "layers": draw(plain_rules) | draw(op_rules),
        "ops": {"white_list": ops[:middle], "black_list": ops[middle:]},
        "loss_scaling": draw(scalings),
        "mode": draw(st.sampled_from(("graph", "pynative"))),
        "results": draw(st.dictionaries(text, json_values, max_size=3)),
        "asked_hash": draw(st.none() | text),
        "reasons": draw(st.dictionaries(text, text, max_size=3)),
    }
    return Policy(**fields)


@given(policies())
@example(Policy(layers={"\u2028.\x85.\x00.\x7f.\U000e0001.\ufeff": "float16"}))
def test_the_canonical_text_reads_back_as_the_same_policy(policy: Policy) -> None:
    """Writing and parsing are inverse, and the text is one printable line of JSON."""
    line = str(policy)
    assert parse_policy(line) == policy
    assert str(parse_policy(line)) == line
    assert line.isprintable()
    assert json.loads(line)["schema"] == "halfwise/policy/1"


@given(policies(), st.integers(0, 10_000), st.sampled_from(["", '"', "}", ",", "0", "e", "\\", " x", "\ud800"]))
def test_a_damaged_canonical_text_is_read_as_any_other_text(policy: Policy, place: int, put: str) -> None:
    """The short way for canonical texts gives what the reader of YAML gives: the same policy, or its words."""
    line = str(policy)
    place %= len(line)
    damaged = line[:place] + put + line[place + 1 :]

    def read(parse: Callable[[str], Policy]) -> Policy | str:
        try:
            return parse(damaged)
        except InputError as error:
            return str(error)

    assert read(parse_policy) == read(lambda text: read_document(text, "<text>", Policy))


@given(policies())
@example(Policy(results={"numbers": ["1e5", "0", ".5", "true", "null", "", "~", "1_0", 1e-7, 1e16, 5e-324]}))
def test_a_saved_file_loads_as_the_same_policy(tmp_path_factory: pytest.TempPathFactory, policy: Policy) -> None:
    """save_policy and load_policy are inverse; the file is UTF-8 YAML for any reader."""
    path = tmp_path_factory.getbasetemp() / "policy.yaml"
    save_policy(policy, path)
    assert load_policy(path) == policy
    assert yaml.safe_load(path.read_text("utf-8"))["schema"] == "halfwise/policy/1"


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_built_in_policies_have_a_name_a_text_and_a_file(name: str, tmp_path: Path) -> None:
    """Each built-in policy parses from its name, from its text and from its file."""
    save_policy(BUILTIN[name], tmp_path / "p.yaml")
    assert parse_policy(f" {name}\n") == BUILTIN[name]
    assert parse_policy(str(BUILTIN[name])) == BUILTIN[name]
    assert load_policy(tmp_path / "p.yaml") == BUILTIN[name]


@given(policies())
def test_json_as_other_programs_write_it_reads_too(policy: Policy) -> None:
    """A policy that went through a JSON writer with plain ASCII escapes is the same policy."""
    text = json.dumps(json.loads(str(policy)), ensure_ascii=True, indent=1)
    assert set(text) <= set(string.printable)
    assert parse_policy(text) == policy
