"""Dumps that were cut or spoiled: an error that names the file, never another exception or a smaller graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfwise.evaluators.evidence import read_op_table
from halfwise.evaluators.evidence.ir_text import read_ir
from halfwise.policies import HalfwiseError

SLOW = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def dump(compiled) -> tuple[bytes, Path]:
    """The bytes of one dump, and a file to spoil."""
    folder = compiled("functions-first").folder
    return next(folder.glob("*_validate_*.ir")).read_bytes(), folder / "spoiled.ir"


def read_or_refused(read: Callable[[], Any], file: Path) -> Any:
    """What is read; None where the file is refused in the words that it should be."""
    words = ""
    try:
        return read()
    except HalfwiseError as error:
        words = str(error)
    assert f"graph dump {file} of MindSpore {mindspore.__version__} cannot be read: expected" in words
    return None


def graphs(content: bytes, file: Path) -> Any:
    """The graphs of a file with this content, or None."""
    file.write_bytes(content)
    return read_or_refused(lambda: read_ir(file), file)


@SLOW
@given(st.floats(0, 1))
def test_truncated_dump_is_refused_or_whole(dump, share):
    """Cut anywhere, a dump is refused with file and version, or it still holds every op and where it feeds."""
    content, file = dump
    whole = graphs(content, file)
    found = graphs(content[: int(share * len(content))], file)
    assert whole is not None
    if found is not None:
        assert [[node.op for node in graph.nodes] for graph in found] == [
            [node.op for node in graph.nodes] for graph in whole
        ]


@SLOW
@given(st.floats(0, 1), st.text('%()[]{},<>:@0123456789 ab\n"', min_size=1, max_size=8))
def test_spoiled_dump_gives_a_table_or_that_error(tmp_path, compiled, share, garbage):
    """A few characters over others that the format uses: a table comes out, or the error that names the file."""
    step = compiled("functions-first")
    source = next(step.folder.glob("*_validate_*.ir"))
    text = source.read_text(encoding="utf-8")
    place = int(share * len(text))
    spoiled = tmp_path / source.name
    spoiled.write_text(text[:place] + garbage + text[place + len(garbage) :], encoding="utf-8")
    read_or_refused(lambda: read_op_table(tmp_path, step.outline), spoiled)


@SLOW
@given(st.floats(0, 1), st.binary(min_size=1, max_size=30), st.integers(0, 200))
def test_garbage_in_a_dump_is_refused_or_harmless(dump, share, garbage, replaced):
    """Garbage anywhere, not even text, leads to that error or to a graph, never to another exception."""
    content, file = dump
    place = int(share * len(content))
    graphs(content[:place] + garbage + content[place + replaced :], file)


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 100, b"\n\n\n"])
def test_what_is_no_dump_at_all(tmp_path, compiled, content):
    """An empty file and one that is no text are refused with the file's name and MindSpore's version."""
    (tmp_path / "00_validate_1.ir").write_bytes(content)
    with pytest.raises(
        HalfwiseError, match=r"00_validate_1\.ir of MindSpore .* cannot be read: expected the head"
    ):
        read_op_table(tmp_path, compiled("blocks").outline)
