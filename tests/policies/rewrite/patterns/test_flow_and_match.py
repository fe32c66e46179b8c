"""Matching by data flow, held against a plain reading of random constructs."""

import operator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.rewrite.patterns import Anything, chain, node
from halfwise.policies.rewrite.patterns.flow import Call, Statement, flow_of
from halfwise.policies.rewrite.patterns.match import Found, Miss, match_at


class A:
    """One kind of layer."""


class B:
    """Another kind."""


class LikeA(A):
    """A subclass."""


NAMES = ("x", "y", "z")


@dataclass(frozen=True)
class Line:
    """`target = callee(arguments)`; without a callee, a statement that only mentions and sets names."""

    target: str
    callee: object
    arguments: tuple[str, ...]

    @property
    def statement(self) -> Statement:
        """The line as the flow takes it."""
        if self.callee is None:
            names = frozenset({self.target, *self.arguments})
            return Statement(names, frozenset({self.target}), "something else")
        call = Call(self.callee, type(self.callee).__name__, self.arguments, "layer")
        return Statement(frozenset(self.arguments), frozenset({self.target}), "a call", None, call)


lines = st.lists(
    st.builds(
        Line,
        st.sampled_from(NAMES),
        st.sampled_from([A(), B(), LikeA(), None]),
        st.lists(st.sampled_from((*NAMES, "CONSTANT")), min_size=1, max_size=2).map(tuple),
    ),
    max_size=7,
)


def tokens(program: list[Line]) -> tuple[list[list[object]], list[set[object]]]:
    """By line: what each argument is (the number of the line that made it), and all that the line reads."""
    held: dict[str, object] = {"x": "input"}
    given_to, read = [], []
    for number, line in enumerate(program):
        given_to.append([held.get(name) for name in line.arguments])
        read.append(
            {held[name] for name in (*line.arguments, *([line.target] * (not line.callee))) if name in held}
        )
        held[line.target] = number if line.callee else f"unknown {number}"
    return given_to, read


@given(lines)
def test_a_chain_is_found_where_the_data_flows_so(program):
    """B(A(...)) is found just where a B's only argument was made by an A and no other line reads it."""
    flow = flow_of([line.statement for line in program], ["x"])
    given_to, read = tokens(program)
    for step in flow.steps:
        if not isinstance(step.call.callee, B):
            continue
        arguments = given_to[step.place]
        maker = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], int) else None
        wanted = (
            maker is not None
            and isinstance(program[maker].callee, A)
            and all(number == step.place or maker not in read[number] for number in range(len(program)))
        )
        found = match_at(flow, chain(A, B), step)
        assert isinstance(found, Found if wanted else Miss)
        if isinstance(found, Found):
            assert [each.place for each in found.steps] == [maker, step.place]
            assert maker is not None
            assert len(found.inputs) == len(given_to[maker])


@given(lines)
def test_a_branch_is_found_where_both_sides_get_one_value(program):
    """B(A(v), v) is found just where the B's second argument is the value that the A got."""
    flow = flow_of([line.statement for line in program], ["x"])
    given_to, read = tokens(program)
    value = Anything()
    for step in flow.steps:
        if not isinstance(step.call.callee, B):
            continue
        arguments = given_to[step.place]
        maker = arguments[0] if len(arguments) == 2 and isinstance(arguments[0], int) else None
        wanted = (
            maker is not None
            and isinstance(program[maker].callee, A)
            and len(given_to[maker]) == 1
            and given_to[maker][0] == arguments[1] is not None
            and all(number == step.place or maker not in read[number] for number in range(len(program)))
        )
        assert isinstance(match_at(flow, node(B, node(A, value), value), step), Found if wanted else Miss)


def test_a_value_may_be_read_elsewhere_where_the_pattern_says_so():
    """With used_only_here=False the match holds beside another reader, and the step is among those kept."""
    program = [Line("y", A(), ("x",)), Line("z", B(), ("y",)), Line("x", B(), ("y",))]
    flow = flow_of([line.statement for line in program], ["x"])
    assert isinstance(match_at(flow, chain(A, B), flow.steps[1]), Miss)
    found = match_at(flow, node(B, node(A, Anything(), used_only_here=False)), flow.steps[1])
    assert isinstance(found, Found)
    assert found.kept == (flow.steps[0],)


def test_operators_are_callees():
    """`operator.add` in a pattern is a sum in the construct."""
    add = Call(operator.add, "`y + x`", ("y", "x"))
    statements = [
        Line("y", A(), ("x",)).statement,
        Statement(frozenset("yx"), frozenset("z"), "z = y + x", 3, add),
    ]
    flow = flow_of(statements, ["x"])
    assert isinstance(match_at(flow, node(operator.add, node(A), Anything()), flow.steps[1]), Found)
    assert isinstance(match_at(flow, node(operator.add, Anything(), node(A)), flow.steps[1]), Miss)


def test_a_miss_says_who_else_reads():
    """The reason names the call whose output is read elsewhere, the statement that reads it, and its line."""
    statements = [
        Statement(frozenset("x"), frozenset("y"), "y = self.a(x)", 5, Call(A(), "self.a", ("x",), "a")),
        Statement(frozenset("y"), frozenset("z"), "z = self.b(y)", 6, Call(B(), "self.b", ("y",), "b")),
        Statement(frozenset("yz"), frozenset(), "return z + y.sum()", 7),
    ]
    flow = flow_of(statements, ["x"])
    assert match_at(flow, chain(A, B), flow.steps[1]) == Miss(
        "the output of self.a is also read by `return z + y.sum()`, line 7"
    )


def test_an_empty_chain_is_refused():
    """A pattern without a callee is an error."""
    with pytest.raises(ValueError, match="at least one"):
        chain()
