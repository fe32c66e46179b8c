"""What a layer gives by the op table, against what hooks saw: hand-made tables, one rule each."""

from dataclasses import replace

import pandas as pd
import pytest

from halfwise.evaluators.evidence import SeenCall, SeenMismatch, match_seen
from halfwise.evaluators.evidence.value_types import TensorType

LOW, FULL = TensorType("Float16", (4, 2)), TensorType("Float32", (4, 2))
CALL = SeenCall("a", ("A",), (FULL,), (LOW,), (), one_output=True, innermost=True, writes_casts=False)


def op(number: int, layer: str | None, precision: str, consumers: tuple[int, ...], **other) -> dict:
    """A row of a table, as far as it is looked at."""
    row = {"id": number, "layer": layer, "output_precision": precision, "consumers": consumers}
    return row | {"direction": "forward", "cast_by": None, "layer_certain": True} | other


def table(*rows: dict) -> pd.DataFrame:
    """A table of these rows and a loss, number 9, outside of the network."""
    return pd.DataFrame([*rows, op(9, None, "float32", (), direction="loss")], dtype=object)


def test_a_layer_gives_what_its_leaving_op_gives():
    """Only the op whose value is taken outside of the layer counts, there or below; the loss is outside."""
    inner = op(0, "a", "float32", (1,))
    leaving = op(1, "a.below", "float16", (9,))
    assert match_seen([CALL], table(inner, leaving)).mismatched == ()
    other = replace(CALL, outputs=(FULL,))
    match = match_seen([other], table(inner, leaving))
    assert match.mismatched == (SeenMismatch("a", "float16", "float32"),)
    assert (match.layers, match.compared) == (1, 1)


def test_a_cast_of_the_policy_belongs_to_no_layers_output():
    """A cast that autocast put before the next layer's op does not hide what this layer gives."""
    cast = op(1, "a", "float32", (2,), cast_by="policy")
    match = match_seen([CALL], table(op(0, "a", "float16", (1, 2)), cast, op(2, "b", "float32", (9,))))
    assert (match.compared, match.mismatched) == (1, ())


def test_two_calls_that_differ_are_a_mismatch():
    """A layer that gave two precisions differs from a table with one answer; both are named."""
    match = match_seen([CALL, replace(CALL, outputs=(FULL,))], table(op(0, "a", "float16", (9,))))
    assert match.mismatched == (SeenMismatch("a", "float16", "float16 and float32"),)


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        (CALL, [op(0, "b", "float32", (9,))]),
        (CALL, [op(0, "a", "float32", ())]),
        (CALL, [op(0, "a", "float32", (9,)), op(1, "a", "float16", (9,))]),
        (CALL, [op(0, "a", "float32", (9,), layer_certain=False)]),
        (CALL, [op(0, "ab", "float32", (9,))]),
        (replace(CALL, one_output=False), [op(0, "a", "float32", (9,))]),
        (replace(CALL, writes_casts=True), [op(0, "a", "float32", (9,))]),
    ],
    ids=["no op left", "value not taken", "two answers", "shared", "another name", "several values", "own cast"],
)
def test_without_one_certain_answer_a_layer_is_not_compared(call, rows):
    """Nothing is called a mismatch that the table does not tell for certain."""
    match = match_seen([call], table(*rows))
    assert (match.layers, match.compared, match.mismatched) == (1, 0, ())


def test_what_gives_no_float_is_not_counted():
    """A layer of integers is no layer to compare."""
    match = match_seen([replace(CALL, outputs=(TensorType("Int32", (4,)),))], table(op(0, "a", "float16", (9,))))
    assert (match.layers, match.compared) == (0, 0)
