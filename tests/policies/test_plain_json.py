"""JSON with limits and one meaning."""

import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from halfwise.policies.plain_json import MAX_UNPACKED_BYTES, parse_json, read_packed_json, reason

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=values)
def test_plain_values_read_back(value: Any) -> None:
    """Whatever Python writes as JSON within the limits is read as the same value."""
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False, indent=1).encode()) == value


@given(depth=st.integers(1, 400), opener=st.sampled_from(["[", '{"a":']))
def test_nesting_is_bounded(depth: int, opener: str) -> None:
    """Fifty levels are read, more are refused, whether lists or objects."""
    closer = "]" if opener == "[" else "}"
    content = (opener * depth + "1" + closer * depth).encode()
    if depth <= 50:
        assert parse_json(content)
    else:
        with pytest.raises(ValueError, match=r"nests deeper than 50 levels|recursion limit"):
            parse_json(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"a": 1, "b": {"c": 1, "d": 2, "c": 3}}', "the key 'c' stands twice in one object"),
        (b"[NaN]", "expected value"),
        (b"[-Infinity]", "invalid number"),
        (b"[1e999]", "numbers must be finite; got 1e999"),
        (b"[9223372036854775808]", r"integers must fit 64 bits; got 9223372036854775808"),
        (b"[" + b"9" * 5000 + b"]", "number out of range"),
        (b'["\\ud800"]', "unexpected end of hex escape"),
        (b'["\xff"]', "invalid unicode"),
        (b'["\x00"]', "control character"),
        (b"\xef\xbb\xbf[]", "expected value"),
        (b"", "EOF"),
        (b"[" * 1_000_000, "recursion limit"),
        (b"[1] [2]", "trailing characters"),
    ],
)
def test_what_has_no_one_meaning_is_refused(content: bytes, words: str) -> None:
    """Double keys, numbers that are none, broken text and endless nesting end in a ValueError that says so."""
    with pytest.raises(ValueError, match=words):
        parse_json(content)


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    """130 kB that unpack to more than is allowed are not unpacked further."""
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * (MAX_UNPACKED_BYTES + 2), 1))
    with pytest.raises(ValueError, match=f"it unpacks to more than {MAX_UNPACKED_BYTES} bytes"):
        read_packed_json(tmp_path / "bomb.gz")


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_packed_file_that_is_not_whole_is_refused(tmp_path: Path, cut: int) -> None:
    """Wherever it is cut off or damaged, it is read as what it was or the error is one that callers know."""
    content = gzip.compress(json.dumps(list(range(20))).encode(), mtime=0)
    file = tmp_path / "a.gz"
    for damaged in (content[:-cut], content[:cut] + b"\xff\x00" + content[cut + 2 :]):
        file.write_bytes(damaged)
        with suppress(OSError, ValueError):
            assert read_packed_json(file) == list(range(20))


class Count(BaseModel):
    """Something to read."""

    count: int


def test_a_reason_is_one_short_line() -> None:
    """Of a value that does not fit, the place and the rule; of a long or wild text, 300 plain letters at most."""
    with pytest.raises(ValueError, match="count") as caught:
        Count.model_validate_json('{"count": "\\u001b[2J"}')
    assert reason(caught.value).startswith("count: Input should be a valid integer")
    assert reason(ValueError("a\n\x1b[2J" + "x" * 1000)) == r"a \u001b[2J" + "x" * 289 + "..."
