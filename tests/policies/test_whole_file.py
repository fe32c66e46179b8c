"""A file is written whole or not at all, and a refusal is one clear sentence."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_disk import fill, small_disk

from halfwise.policies.whole_file import NotWritten, write_text, written_aside

WORDS = {
    errno.ENOSPC: "no space is left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "its folder does not exist",
    errno.EIO: "Input/output error",
}


@pytest.mark.parametrize("moment", ["write", "flush", "rename"])
@pytest.mark.parametrize("number", WORDS)
def test_what_the_system_refuses_leaves_the_old_file(tmp_path: Path, monkeypatch, number: int, moment: str):
    """Refused at the write, on the way to the disk or at the rename: the old text stays, and nothing beside it."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    def write() -> None:
        with written_aside(file) as aside:
            aside.write_text("half of the n")
            if moment == "write":
                refuse()

    file = tmp_path / "a.json"
    file.write_text("old")
    if moment == "flush":
        monkeypatch.setattr(os, "fsync", refuse)
    if moment == "rename":
        monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(NotWritten) as refused:
        write()
    assert str(refused.value) == f"cannot write {file}: {WORDS[number]}"
    assert refused.value.disk_full == (number in (errno.ENOSPC, errno.EDQUOT))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "old"}


def test_an_interrupt_leaves_the_old_file(tmp_path: Path) -> None:
    """Ctrl-C while writing goes on as it is, and leaves nothing beside the old text."""

    def write() -> None:
        with written_aside(file) as aside:
            aside.write_text("half")
            raise KeyboardInterrupt

    file = tmp_path / "a.csv"
    file.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.csv": "old"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(tmp_path_factory, text: str) -> None:
    """What is written is what is read, byte by byte in UTF-8."""
    folder = tmp_path_factory.mktemp("whole")
    write_text(folder / "a.txt", text)
    assert [path.name for path in folder.iterdir()] == ["a.txt"]
    assert (folder / "a.txt").read_bytes() == text.encode()


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """On a full tmpfs the old file stays, the error says why, and after space is freed the new one is written."""
    with small_disk(tmp_path / "disk", 1 << 20) as disk:
        write_text(disk / "a.json", "old")
        filler = fill(disk)
        with pytest.raises(NotWritten, match=r"cannot write .*a\.json: no space is left on the device") as refused:
            write_text(disk / "a.json", "new" * 10_000)
        assert refused.value.disk_full
        assert (disk / "a.json").read_text() == "old"
        assert sorted(path.name for path in disk.iterdir()) == ["a.json", "filler"]
        filler.unlink()
        write_text(disk / "a.json", "new" * 10_000)
        assert (disk / "a.json").read_text() == "new" * 10_000
