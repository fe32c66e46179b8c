import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.errors import HalfwiseError
from halfwise.search.journal import Journal, open_journal

from .fake_search import asked, figures, run, start

RECORD = {"op_code": 8, "worker_id": "me", "trial_id": 0, "user_attr": {"a": "b" * 40}}
# Writes half a record under the lock, and is killed.
TORN = b'{"op_code":8,"worker_id":"you","tri'
KILLED_WRITER = """
import fcntl, os, signal, sys
file = open(sys.argv[1], "ab", buffering=0)
fcntl.flock(file, fcntl.LOCK_EX)
file.write(sys.argv[2].encode())
os.kill(os.getpid(), signal.SIGKILL)
"""
WRITER = """
import sys, pathlib
from halfwise.search.journal import Journal
journal = Journal(pathlib.Path(sys.argv[1]))
for number in range(80):
    journal.append_logs([{"op_code": 1, "worker_id": sys.argv[2], "study_id": number}])
    journal.read_logs(0) if number % 50 == 0 else None
"""


def kill_a_writer(journal: Path) -> None:
    """A process that is killed while it writes a record."""
    subprocess.run([sys.executable, "-c", KILLED_WRITER, str(journal), TORN.decode()], check=False)


def last_two(journal: Path) -> tuple[bytes, int]:
    """The file, and where its last record but one begins."""
    whole = journal.read_bytes()
    return whole, len(b"".join(whole.splitlines(keepends=True)[:-2]))


def test_a_journal_cut_at_any_byte_of_its_last_two_records_loses_at_most_the_cut_one(tmp_path: Path) -> None:
    """What is read is every whole record; the next write sets the torn piece aside and comes after."""
    run(start(tmp_path), 2)
    whole, begin = last_two(tmp_path / "journal.log")
    for cut in range(begin, len(whole)):
        path = tmp_path / f"{cut}.log"
        path.write_bytes(whole[:cut])
        kept = whole[:cut].rpartition(b"\n")
        expected = [json.loads(line) for line in kept[0].split(b"\n")]
        journal = Journal(path)
        assert journal.read_logs(0) == expected
        journal.append_logs([RECORD])
        assert journal.read_logs(len(expected)) == [RECORD]
        assert Journal(path).read_logs(0) == [*expected, RECORD]
        beside = [each.read_bytes() for each in tmp_path.glob(f"{cut}.log.torn-*")]
        assert beside == ([kept[2]] if kept[2] else [])


@pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.full)])
def test_a_study_whose_journal_was_cut_goes_on(tmp_path: Path, step: int) -> None:
    """Cut in the records that end its last trial, a study still has every other one, and makes the next trial."""
    whole_search = start(tmp_path)
    run(whole_search, 3)
    finished = whole_search.finished()
    whole, begin = last_two(tmp_path / "journal.log")
    for cut in range(begin, len(whole), step):
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / "journal.log").write_bytes(whole[:cut])
        search = start(folder)
        # Its status was written, or it is proposed again.
        assert search.finished()[:2] == finished[:2]
        assert search.finished()[2].interrupted or search.finished()[2] == finished[2]
        run(search, 1)
        assert len(start(folder).finished()) == 4


def test_a_killed_writer_disturbs_nobody(tmp_path: Path) -> None:
    """Its lock goes with it, what it left is set aside, and a process that has the study open goes on at once."""
    search = start(tmp_path)
    run(search, 2)
    size = (tmp_path / "journal.log").stat().st_size
    kill_a_writer(tmp_path / "journal.log")
    run(search, 2)
    assert (tmp_path / f"journal.log.torn-{size}").read_bytes() == TORN
    assert start(tmp_path).finished() == search.finished()
    assert [told.number for told in search.finished()] == [0, 1, 2, 3]


def test_processes_write_while_others_are_killed(tmp_path: Path) -> None:
    """Two processes write, others are killed as they write: every record of the two is there, in their order."""
    path = tmp_path / "journal.log"
    path.touch()
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "ab"]
    kills = 0
    while any(writer.poll() is None for writer in writers):
        kill_a_writer(path)
        kills += 1
    # The last one may have come after the last record.
    Journal(path).append_logs([RECORD])
    records = Journal(path).read_logs(0)
    for name in "ab":
        assert [r["study_id"] for r in records if r["worker_id"] == name] == list(range(80))
    torn = b"".join(each.read_bytes() for each in tmp_path.glob("journal.log.torn-*"))
    assert kills > 2
    assert torn == TORN * kills
    assert [writer.returncode for writer in writers] == [0, 0]


def test_a_last_line_that_is_no_record_is_set_aside(tmp_path: Path) -> None:
    """A power cut may leave a whole line of zeros: it goes the way of a torn one."""
    search = start(tmp_path)
    run(search, 1)
    with (tmp_path / "journal.log").open("ab") as file:
        file.write(b"\0" * 100 + b"\n")
    run(search, 1)
    assert [told.number for told in start(tmp_path).finished()] == [0, 1]
    assert [each.read_bytes()[:3] for each in tmp_path.glob("journal.log.torn-*")] == [b"\0\0\0"]


@pytest.mark.parametrize("damage", [b"garbage", b'{"op_code": 8}', b"[]", b'{"op_code": 99, "worker_id": "a"}'])
def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path, damage: bytes) -> None:
    """Where earlier records are lost, the study is refused rather than continued on half a memory."""
    run(start(tmp_path), 2)
    journal = tmp_path / "journal.log"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:4], damage + b"\n", *lines[5:]]))
    with pytest.raises(HalfwiseError, match=r"line 5 of the study's journal .* is damaged"):
        start(tmp_path)


def test_a_journal_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A folder that is not there is an error that names the file."""
    with pytest.raises(
        HalfwiseError, match=r"cannot open the study's journal .*/nowhere/journal.log: No such file"
    ):
        open_journal(tmp_path / "nowhere" / "journal.log")


def test_a_journal_that_was_deleted_is_not_begun_anew(tmp_path: Path) -> None:
    """Without its first records a journal would be worth nothing: the next write is an error."""
    search = start(tmp_path)
    run(search, 1)
    (tmp_path / "journal.log").unlink()
    with pytest.raises(HalfwiseError, match=r"cannot write the study's journal .*: No such file"):
        search.ask()
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_was_cut_short_in_use_is_refused(tmp_path: Path) -> None:
    """A file that lost records which a process has read is not the same study any more."""
    search = start(tmp_path)
    run(search, 1)
    (tmp_path / "journal.log").write_bytes(b"")
    with pytest.raises(HalfwiseError, match="was replaced or cut short while it was in use"):
        search.ask()


def refuse_after(monkeypatch: pytest.MonkeyPatch, written: int) -> None:
    """Let the disk be full after so many bytes more of the journal."""
    write, left = os.write, [written]

    def full(file: int, data: bytes) -> int:
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= (done := write(file, data[: left[0]]))
        return done

    monkeypatch.setattr(os, "write", full)


@pytest.mark.parametrize("written", [0, 1, 60])
def test_a_full_disk_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """What did not fit is taken back; all that finished is readable, and the trial is told once there is room."""
    search = start(tmp_path)
    run(search, 2)
    proposal = asked(search)
    before = (tmp_path / "journal.log").read_bytes()
    with monkeypatch.context() as patch:
        refuse_after(patch, written)
        with pytest.raises(
            HalfwiseError, match=r"cannot write the study's journal .*: No space left on device; noth"
        ):
            search.tell(proposal.number, *figures(proposal.policy))
        assert (tmp_path / "journal.log").read_bytes() == before
        assert [told.number for told in search.finished()] == [0, 1]
    search.tell(proposal.number, *figures(proposal.policy))
    assert [told.number for told in start(tmp_path).finished()] == [0, 1, 2]
    assert list(tmp_path.glob("*.torn-*")) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mount.returncode and not os.environ.get("CI"):
        pytest.skip(f"this machine does not let the test mount a small disk: {mount.stderr.strip()}")
    assert mount.returncode == 0, mount.stderr
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_study_goes_on_when_a_full_disk_has_room_again(small_disk: Path) -> None:
    """On a real disk that fills up: the message, all that finished, and the study resumes once space is freed."""
    (small_disk / "other").write_bytes(b"0" * 40 * 1024)
    search = start(small_disk)
    with pytest.raises(HalfwiseError, match="No space left on device"):
        run(search, 100)
    finished = start_reading(small_disk)
    (small_disk / "other").unlink()
    search = start(small_disk)
    done = [told for told in search.finished() if not told.interrupted]
    assert [told.number for told in done][: len(finished)] == finished
    run(search, 2)
    assert len([told for told in start(small_disk).finished() if not told.interrupted]) == len(done) + 2
    assert list(small_disk.glob("*.torn-*")) == []


def start_reading(folder: Path) -> list[int]:
    """The numbers of the finished trials, read without writing."""
    study = optuna.load_study(study_name="search", storage=open_journal(folder / "journal.log"))
    finished = study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))
    return [0, *(trial.user_attrs["proposal"]["number"] for trial in finished)]


def test_a_lock_that_is_never_released_is_an_error(tmp_path: Path) -> None:
    """A process that was stopped while it wrote keeps the lock: after a while one clear error says so."""
    path = tmp_path / "journal.log"
    journal = Journal(path, patience_s=0.05)
    path.touch()
    with path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(HalfwiseError, match=r"another process has held the study's journal .* for 0\.05 s"):
            journal.append_logs([RECORD])
    journal.append_logs([RECORD])
    assert journal.read_logs(0) == [RECORD]


@given(st.lists(st.one_of(st.binary(max_size=40), st.just(json.dumps(RECORD).encode())), max_size=6))
def test_a_file_of_anything_gives_only_our_errors(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """Bytes of any kind are read as records, or refused; opened as a storage, they are a study or refused."""
    path = tmp_path_factory.mktemp("any") / "journal.log"
    path.write_bytes(b"\n".join(lines))
    with suppress(HalfwiseError):
        assert all(record["op_code"] == 8 for record in Journal(path).read_logs(0))
        open_journal(path)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)))
def test_records_with_anything_inside_give_only_our_errors(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    """A record of every kind, with one and the same odd value in each of its fields, opens or is refused."""
    names = ("study_name", "directions", "study_id", "user_attr", "system_attr", "datetime_start", "trial_id")
    more = ("param_name", "param_value_internal", "distribution", "state", "values", "step", "intermediate_value")
    path = tmp_path_factory.mktemp("odd") / "journal.log"
    fields = dict.fromkeys((*names, *more), value)
    lines = [json.dumps({"op_code": code, "worker_id": "a", **fields}) for code in range(10)]
    path.write_text("\n".join([*lines, ""]))
    with suppress(HalfwiseError):
        assert all(each.study_name == value for each in open_journal(path).get_all_studies())


def test_opening_a_study_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Optuna's own announcements stay off the terminal, and its verbosity is as it was."""
    before = optuna.logging.get_verbosity()
    run(start(tmp_path), 2)
    start(tmp_path)
    assert capfd.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == before
