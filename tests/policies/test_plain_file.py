"""Only plain files of a bounded size are read."""

import os
import socket
from pathlib import Path

import pytest

from halfwise.policies import InputError
from halfwise.policies.plain_file import MAX_TEXT_BYTES, read_bytes, read_text


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    """As many bytes as are allowed are read; one more is refused with the limit."""
    file = tmp_path / "f"
    file.write_bytes(b"x" * 10)
    assert read_bytes(file, 10) == b"x" * 10
    with pytest.raises(OSError, match=r"it is larger than 9 bytes, the most that is read"):
        read_bytes(file, 9)
    file.write_bytes(b"x" * (MAX_TEXT_BYTES + 1))
    with pytest.raises(InputError, match=rf"{file}: cannot be read: it is larger than {MAX_TEXT_BYTES} bytes"):
        read_text(file)


def test_what_never_ends_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody writes to, a socket and a device are no files to read: nothing waits for them."""
    # A socket's name must be short.
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name in ("pipe", "socket", "/dev/zero"):
            with pytest.raises(InputError, match=r"cannot be read: (it is no plain file|No such device)"):
                read_text(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "No such file or directory"),
        ("", "Is a directory"),
        ("a\0b", "its name is none that a file can have"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_name_that_leads_to_no_file_is_said(tmp_path: Path, name: str, words: str) -> None:
    """Whatever the name, the error is one of ours and says why."""
    with pytest.raises(InputError, match=words):
        read_text(tmp_path / name)


def test_marks_of_editors_are_no_part_of_the_text(tmp_path: Path) -> None:
    """A byte order mark is left out; other bytes that are no UTF-8 are refused with their place."""
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa: 1")
    assert read_text(tmp_path / "f") == "a: 1"
    (tmp_path / "f").write_bytes(b"a: \xff")
    with pytest.raises(InputError, match=r"is not UTF-8 text \(byte 3\)"):
        read_text(tmp_path / "f")
