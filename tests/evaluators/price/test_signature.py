import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from price_tables import make_row, make_table

from halfwise.evaluators.price.kernel_signatures import given_half_zeros, signatures
from halfwise.evaluators.price.signature import Signature

TENSORS = st.tuples(
    st.sampled_from(["float32", "float16", "bfloat16", "other"]),
    st.lists(st.integers(0, 4096), max_size=5).map(tuple),
)
SIGNATURES = st.builds(
    Signature,
    op=st.from_regex(r"[A-Z][A-Za-z0-9]*", fullmatch=True),
    inputs=st.lists(TENSORS, max_size=4).map(tuple),
    output=TENSORS,
    half_zeros=st.booleans(),
)


@given(SIGNATURES)
def test_a_signature_reads_back_from_its_text(signature: Signature):
    """Parsing what is printed gives the same value, scalars and kernels without inputs included."""
    assert Signature.parse(str(signature)) == signature


@given(st.text(alphabet="Cast [],0123float->halfzeros ", max_size=40))
def test_no_text_is_read_as_something_else(text: str):
    """A text is either refused, or it spells exactly what it is read as."""
    with contextlib.suppress(ValueError):
        assert str(Signature.parse(text)) == text


@pytest.mark.parametrize("text", ["", "Cast", "Cast float32[64]", "Cast float32[64 -> float16[64]", "a[1] -> b"])
def test_what_spells_no_kernel_is_refused(text: str):
    """The error shows what a kernel looks like."""
    with pytest.raises(ValueError, match=r"such as 'Cast float32\[64,16\] -> float16\[64,16\]'"):
        Signature.parse(text)


def test_rows_of_a_kernel_table_get_their_signatures():
    """Precisions and shapes in order; what is no float is called other."""
    table = make_table(make_row(0, "Gather", [((97, 48), "float16"), ((1024,), None)], ((1024, 48), "float16")))
    assert [str(s) for s in signatures(table)] == ["Gather float16[97,48] other[1024] -> float16[1024,48]"]


def test_half_zeros_follow_a_rectifier_through_casts_and_views():
    """A cast behind ReLU is given half zeros, also through another cast; a sum of two inputs is not."""
    table = make_table(
        make_row(0, "ReLU", [((8,), "float32")], ((8,), "float32")),
        make_row(1, "Cast", [((8,), "float32")], ((8,), "float16"), producers=(0,)),
        make_row(2, "Reshape", [((8,), "float16")], ((2, 4), "float16"), producers=(1,)),
        make_row(3, "Cast", [((2, 4), "float16")], ((2, 4), "float32"), producers=(2,)),
        make_row(4, "Add", [((8,), "float32"), ((8,), "float32")], ((8,), "float32"), producers=(0,)),
        make_row(5, "Cast", [((8,), "float32")], ((8,), "float16"), producers=(4,)),
    )
    assert given_half_zeros(table) == [False, True, True, True, False, False]
