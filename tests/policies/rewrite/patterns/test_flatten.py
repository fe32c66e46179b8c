"""One call a statement, in Python's own order."""

import ast
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.rewrite.patterns.flatten import flattened, restored

leaves = st.sampled_from(["a", "b", "1", "2"])
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds("f({})".format, inner),
        st.builds("g({}, b={})".format, inner, inner),
        st.builds("h(*[{}], {})".format, inner, inner),
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("({} < {} < {})".format, inner, inner, inner),
        st.builds("[{} for _ in range(2)][0]".format, inner),
        st.builds("len([{}, ({}, {{'k': ({},)}})])".format, inner, inner, inner),
    ),
    max_leaves=8,
)
statements = st.one_of(
    st.builds("{} = {}".format, st.sampled_from("abc"), expressions),
    st.builds("a = c = {}".format, expressions),
    st.builds("a, b = {}, {}".format, expressions, expressions),
    st.builds("a += {}".format, expressions),
    st.builds("c: int = {}".format, expressions),
    st.builds("{}".format, expressions),
    st.builds(
        "if {}:\n        b = {}\n    else:\n        b = c = {}".format, expressions, expressions, expressions
    ),
    st.builds("for b in range({} % 3):\n        a = {}".format, expressions, expressions),
)
functions = st.builds(
    lambda body, end: "def run(a, b, f_out=0):\n    'doc'\n    " + "\n    ".join([*body, f"return {end}"]),
    st.lists(statements, max_size=4),
    expressions,
)


def parsed(text: str) -> ast.FunctionDef:
    """The function that a text defines."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


def run(function: ast.FunctionDef) -> tuple[Any, list[Any]]:
    """What the function returns, or raises, and every call with its arguments in order."""
    calls: list[Any] = []

    def record(name: str):
        def call(*arguments, **keywords):
            calls.append((name, arguments, keywords))
            return len(calls) % 5

        return call

    scope = {name: record(name) for name in "fgh"}
    module = ast.fix_missing_locations(ast.Module([function], []))
    exec(compile(module, "generated", "exec"), scope)
    try:
        return scope["run"](3, 4), calls
    except UnboundLocalError as error:
        return type(error), calls


@given(functions)
def test_flattening_keeps_results_and_the_order_of_calls(text):
    """The flattened function returns the same and makes the same calls with the same arguments, in order."""
    function = parsed(text)
    assert run(flattened(function)) == run(function)


@given(functions)
def test_flattening_is_seen_to_be_the_same_construct(text):
    """`restored` takes a function flattened again for the same, and no longer once a constant is another."""
    flat = flattened(parsed(text))
    again = flattened(flat)
    assert restored(again, flat)
    inside = [each for statement in again.body for each in ast.walk(statement)]
    for each in [each for each in inside if isinstance(each, ast.Constant) and isinstance(each.value, int)][:1]:
        each.value = 77
        assert not restored(again, flat)


def test_every_call_gets_a_statement():
    """Nested calls come apart, innermost and leftmost first, and conditional ones stay whole."""
    function = parsed("def run(a):\n    return f(g(a), h(a) if a else f(a))")
    assert ast.unparse(flattened(function)).splitlines()[1:] == [
        "    g_out = g(a)",
        "    value_out = h(a) if a else f(a)",
        "    f_out = f(g_out, value_out)",
        "    return f_out",
    ]
