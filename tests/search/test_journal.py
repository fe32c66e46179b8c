import os
from pathlib import Path

import optuna
import pytest

from halfwise.policies.errors import HalfwiseError
from halfwise.search.advisors import SamplerAdvisor
from halfwise.search.study import Search

from .fake_search import run, small_space, start


def test_a_torn_last_line_loses_nothing_that_was_told(tmp_path: Path) -> None:
    """A line that a full disk cut short is dropped at the next start, and the study goes on (case 35)."""
    search = start(tmp_path)
    run(search, 3)
    finished = search.finished()
    with (tmp_path / "journal.log").open("ab") as file:
        file.write(b'{"op_code":4,"worker_id":"a')
    search = start(tmp_path)
    assert search.finished() == finished
    run(search, 1)
    assert len(start(tmp_path).finished()) == 4


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    """Where earlier records are lost, the study is refused rather than continued on half a memory."""
    run(start(tmp_path), 2)
    journal = tmp_path / "journal.log"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:4], b"garbage\n", *lines[5:]]))
    with pytest.raises(HalfwiseError, match=r"line 5 of the study's journal .* is damaged"):
        start(tmp_path)


def test_a_journal_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A folder that is not there is an error that names the file."""
    with pytest.raises(
        HalfwiseError, match=r"cannot open the study's journal .*/nowhere/journal.log: No such file"
    ):
        start(tmp_path / "nowhere")


def test_the_lock_points_at_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a relative path too: Optuna reads a lock's age through it, and would wait for ever otherwise."""
    monkeypatch.chdir(tmp_path)
    search = Search.create(Path("journal.log"), SamplerAdvisor("random", small_space(), 0), "maximize", ())
    seen: list[str] = []
    symlink = os.symlink
    monkeypatch.setattr(os, "symlink", lambda src, dst: (seen.append(src), symlink(src, dst))[1])
    search.ask()
    assert set(seen) == {str(tmp_path / "journal.log")}


def test_opening_a_study_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Optuna's own announcements stay off the terminal, and its verbosity is as it was."""
    before = optuna.logging.get_verbosity()
    run(start(tmp_path), 2)
    start(tmp_path)
    assert capfd.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == before
