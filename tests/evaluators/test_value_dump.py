"""Dumped values are read as their kernel wrote them, whatever the header says."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfwise.evaluators.value_dump import DumpedOp, read_dumped

SHAPES = st.lists(st.integers(1, 4), max_size=3).map(tuple)


def dumped(file: Path, header: str, values: np.ndarray) -> Path:
    """A file as MindSpore writes it: the type that the graph had, then the bytes of the kernel's."""
    with file.open("wb") as stream:
        shape = {"descr": header, "fortran_order": False, "shape": values.shape}
        np.lib.format.write_array_header_1_0(stream, shape)
        stream.write(values.tobytes())
    return file


@given(st.data(), st.sampled_from(["<f2", "<f4"]), st.sampled_from([np.float16, np.float32]))
def test_the_bytes_tell_the_width(tmp_path_factory, data, header, width):
    """Float16 and float32 behind either header come back as they were."""
    values = data.draw(SHAPES.flatmap(lambda shape: arrays(width, shape)))
    found = read_dumped(dumped(tmp_path_factory.mktemp("dump") / "x.npy", header, values))
    assert found.dtype == width
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.bool_, np.float64])
def test_other_types_are_what_their_header_says(tmp_path, dtype):
    """Integers, booleans and doubles are read as NumPy reads them."""
    np.save(tmp_path / "x.npy", np.ones((2, 3), dtype))
    assert read_dumped(tmp_path / "x.npy").dtype == dtype


def test_finite_values_of_a_wide_kernel_are_finite(tmp_path):
    """Float32 bytes that would be NaN if they were taken for float16 are finite."""
    values = np.array([1.0009765], np.float32)
    values = np.repeat(values.view(np.uint32) | 0x7FFF, 4).view(np.float32)
    assert np.isnan(values.view(np.float16)).any()
    assert DumpedOp("x", dumped(tmp_path / "x.npy", "<f2", values)).finite()
    assert not DumpedOp("x", dumped(tmp_path / "x.npy", "<f2", np.array([1, np.nan], np.float32))).finite()
