"""Reading the types of values out of MindSpore's text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.evidence.value_types import TensorType, split_outside_brackets, tensors_of

tensors = st.builds(
    TensorType,
    st.sampled_from(["Float32", "Float16", "BFloat16", "Int32", "Int64", "Bool", "UInt8"]),
    st.lists(st.integers(-1, 99), max_size=4).map(tuple),
)


def as_text(values: list[TensorType | None]) -> str:
    """A tuple of tensors (None for an integer) as MindSpore prints its type."""
    elements = ",".join(f"Tensor[{value.element}]" if value else "Int64" for value in values)
    shapes = ", ".join(f"({', '.join(map(str, value.shape))})" if value else "NoShape" for value in values)
    return f"<Tuple[{elements}], TupleShape({shapes}), elements_use_flags={{[const vector]{{1, 1}}}}>"


@given(st.lists(st.none() | tensors, max_size=6))
def test_tuple_of_anything_comes_back(values):
    """Every tensor of a tuple is found, in order, with its element type and shape; the rest is left out."""
    assert tensors_of(as_text(values)) == tuple(value for value in values if value)


@given(st.lists(tensors, min_size=1, max_size=4), st.integers(1, 4))
def test_repeated_elements_and_nested_tuples(values, times):
    """`Tensor[Float32]*3` stands for three, also inside of an inner tuple."""
    inner = ",".join(f"Tensor[{value.element}]*{times}" for value in values)
    shape = ", ".join(f"({', '.join(map(str, value.shape))})" for value in values for _ in range(times))
    text = f"<Tuple[Int64,Tuple[{inner}]], TupleShape(NoShape, TupleShape({shape}))>"
    assert tensors_of(text) == tuple(value for value in values for _ in range(times))


def test_parameter_keeps_its_name():
    """A reference to a Parameter carries the Parameter's name, whatever follows it."""
    text = "<Ref[Tensor[Float32]], (16, 8), ref_key=body.0.f1.weight, is_parameter, is_inplace>"
    assert tensors_of(text) == (TensorType("Float32", (16, 8), "body.0.f1.weight"),)
    assert tensors_of("<Ref[Tensor[Int32]], (), ref_key=counter>") == (TensorType("Int32", (), "counter"),)


@pytest.mark.parametrize(
    "text", ["", "<UMonad, NoShape>", "<null>", "<Func, NoShape>", "<Float32, NoShape>", "<Tuple[], TupleShape()>"]
)
def test_what_is_no_tensor(text):
    """Scalars, functions, monads and nothing at all hold no tensor."""
    assert tensors_of(text) == ()


def test_elements_without_shapes_are_refused():
    """Element types and shapes that do not go together are an error that shows the text."""
    with pytest.raises(ValueError, match="2 values with 1 shapes in the type '<Tuple"):
        tensors_of("<Tuple[Tensor[Float32]*2], TupleShape((3))>")


nested = st.recursive(
    st.text("abc%", min_size=1, max_size=3),
    lambda inner: st.builds(
        lambda parts, pair: pair[0] + ", ".join(parts) + pair[1],
        st.lists(inner, max_size=3),
        st.sampled_from(["()", "[]", "{}", "<>"]),
    ),
    max_leaves=8,
)


@given(st.lists(nested, max_size=5))
def test_split_at_outer_commas_only(parts):
    """Parts joined by commas come back as they went in, whatever commas stand inside their brackets."""
    assert split_outside_brackets(", ".join(parts)) == parts


def test_bytes_and_precision():
    """Bytes follow from the element's bits; an unknown length makes the tensor unknown."""
    assert TensorType("Float16", (3, 5)).bytes == 30
    assert TensorType("Bool", (7,)).bytes == 7
    assert TensorType("BFloat16", ()).precision == "bfloat16"
    assert TensorType("Int64", (2,)).precision is None
    assert not TensorType("Float32", (-1, 2)).known
