import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.patterns import Pattern, parse_pattern


def test_what_each_form_of_a_pattern_means() -> None:
    """Paths, globs, MindSpore's types, user types, and one op of any of them."""
    assert parse_pattern("body.0.conv1") == Pattern("body.0.conv1", "exact", "body.0.conv1", None)
    assert parse_pattern(".") == Pattern(".", "exact", "", None)
    assert parse_pattern("::Mul") == Pattern("::Mul", "exact", "", "Mul")
    assert parse_pattern("body.*::Mul") == Pattern("body.*::Mul", "glob", "body.*", "Mul")
    assert parse_pattern("**") == Pattern("**", "glob", "**", None)
    assert parse_pattern("nn.LayerNorm") == Pattern("nn.LayerNorm", "type", "nn.LayerNorm", None)
    assert parse_pattern("nn.Dense::BiasAdd") == Pattern("nn.Dense::BiasAdd", "type", "nn.Dense", "BiasAdd")
    assert parse_pattern("type:MyNorm") == Pattern("type:MyNorm", "type", "MyNorm", None)


@pytest.mark.parametrize(
    "path", ["nn", "nn.dense", "nn.0", "nn.Dense.0", "on", "1e-3", "a b", "<script>", "größe", "a[0]", "type"]
)
def test_layer_names_that_look_like_something_else_are_paths(path: str) -> None:
    """Only `nn.` with one capitalised name is a type; brackets and odd names are literal (case 7)."""
    assert parse_pattern(path) == Pattern(path, "exact", path, None)


def test_a_path_that_looks_like_a_type_is_reached_by_a_question_mark() -> None:
    """A layer at the path nn.Dense can be named with one letter left open."""
    assert parse_pattern("n?.Dense").matches_path("nn.Dense")


@pytest.mark.parametrize(
    ("glob", "matching", "others"),
    [
        ("body.*.bn?", ["body.0.bn1", "body.x.bn2"], ["body.0.bn", "body.0.1.bn1", "body.bn1", "body.0.bn1.x"]),
        ("*", ["a", "b*"], ["", "a.b"]),
        ("**", ["", "a", "a.b.c"], []),
        ("a.**", ["a", "a.b", "a.b.c"], ["", "b", "ab"]),
        ("**.norm", ["norm", "a.norm", "a.b.norm"], ["norm.a", "anorm"]),
        ("a.**.b.*", ["a.b.c", "a.x.b.c", "a.b.b.b"], ["a.b", "a.x.c"]),
        ("?", ["a", "层", "\n"], ["", "ab", "."]),
        ("a*[0]+", ["a[0]+", "axx[0]+"], ["a0"]),
    ],
)
def test_globs_match_by_name(glob: str, matching: list[str], others: list[str]) -> None:
    """Stars and question marks stay within one name, a double star stands for any number of names."""
    pattern = parse_pattern(glob)
    assert [path for path in matching + others if pattern.matches_path(path)] == matching


letters = st.lists(st.sampled_from(["a", "b", "ab"]), max_size=5)
parts = st.lists(st.sampled_from(["a", "b", "*", "?", "a*", "**"]), min_size=1, max_size=4).filter(
    lambda parts: set("*?") & set("".join(parts))
)


@given(parts, letters)
def test_globs_agree_with_a_regular_expression(pattern: list[str], names: list[str]) -> None:
    """The walk over names finds what a regular expression over the whole path finds."""
    pieces = {"**": r"([^.]+\.)*", "*": r"[^.]*\.", "?": r"[^.]\.", "a*": r"a[^.]*\."}
    expression = "".join(pieces.get(part, part + r"\.") for part in pattern)
    expected = re.fullmatch(expression, "".join(f"{name}." for name in names)) is not None
    assert parse_pattern(".".join(pattern)).matches_path(".".join(names)) == expected


def test_a_glob_of_many_double_stars_is_quick() -> None:
    """Matching is a walk, not a search: no pattern can hang a run."""
    pattern = parse_pattern(".".join(["**", "a"] * 40))
    assert pattern.matches_path(".".join(["a"] * 100))
    assert not pattern.matches_path(".".join(["a"] * 100 + ["b"]))
