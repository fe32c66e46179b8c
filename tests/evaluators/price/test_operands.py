from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
from price_tables import make_row

from halfwise.evaluators.price.operands import Operand, operands

F32 = "float32"


def found(inputs: list, outputs: dict, known: dict, **columns) -> list[Operand]:
    """The operands of one row at batch size 32."""
    row = make_row(9, "Some", [(shape, F32) for shape in inputs], ((1,), F32), **columns)
    return operands(SimpleNamespace(**row), outputs, known, batch=32)


def test_ops_and_parameters_are_told_apart_by_their_shapes():
    """A product of an op's output and a weight, in either order."""
    outputs, known = {3: ((32, 8),)}, {"w": (4, 8)}
    ways = [[(32, 8), (4, 8)], [(4, 8), (32, 8)]]
    sources = [[o.source for o in found(way, outputs, known, producers=(3,), parameters=("w",))] for way in ways]
    assert sources == [[3, "w"], ["w", 3]]


def test_what_is_neither_op_nor_parameter_is_an_input_if_it_has_the_batch_first():
    """A tensor of 32 rows comes from the batch of 32; a table of constants doesn't."""
    kinds = [operand.kind for operand in found([(32, 30), (30,), ()], {}, {})]
    assert kinds == ["input", "constant", "constant"]


def test_a_value_that_is_given_twice_is_told_by_the_bytes_that_are_read():
    """The square of a value reads it once; a value and an input of its shape are read both."""
    outputs = {3: ((32, 8),)}
    square = found([(32, 8), (32, 8)], outputs, {}, producers=(3,), bytes_read=32 * 8 * 4)
    beside = found([(32, 8), (32, 8)], outputs, {}, producers=(3,))
    assert [operand.source for operand in square] == [3, 3]
    assert sorted(operand.kind for operand in beside) == ["input", "op"]


def test_any_output_of_a_producer_may_be_meant():
    """The third output of an op has another shape than its first."""
    operand = found([(8,)], {3: ((32, 8), (8,))}, {}, producers=(3,))[0]
    assert (operand.kind, operand.source, operand.elements) == ("op", 3, 8)


def test_integers_are_no_operands():
    """The indices of a look-up have no precision."""
    row = make_row(
        9, "Gather", [((97, 48), F32), ((32,), None)], ((32, 48), F32), producers=(2,), parameters=("t",)
    )
    assert [o.source for o in operands(SimpleNamespace(**row), {2: ((32,),)}, {"t": (97, 48)}, 32)] == ["t"]


@settings(deadline=None, max_examples=50)
@given(kinds=st.lists(st.sampled_from(["op", "parameter"]), max_size=6))
def test_operands_of_different_shapes_are_always_matched_to_their_sources(kinds: list[str]):
    """Whatever the order of ops and Parameters, each operand gets its own."""
    shapes = [(32, 2 + place) for place in range(len(kinds))]
    expected = [place if kind == "op" else f"w{place}" for place, kind in enumerate(kinds)]
    outputs = {place: (shapes[place],) for place, kind in enumerate(kinds) if kind == "op"}
    known = {f"w{place}": shapes[place] for place, kind in enumerate(kinds) if kind == "parameter"}
    matched = found(shapes, outputs, known, producers=tuple(outputs), parameters=tuple(known))
    assert [operand.source for operand in matched] == expected
