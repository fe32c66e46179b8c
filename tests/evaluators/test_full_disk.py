"""A job without a place to write to says so, and its policy is not blamed."""

from pathlib import Path

import pytest
from process_jobs import Note
from small_disk import fill, read_only, small_disk

from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.process import Failure, Limits, run_job
from halfwise.evaluators.request import Request
from halfwise.policies import BUILTIN
from halfwise.policies.errors import HalfwiseError
from halfwise.policies.whole_file import NotWritten

LIMITS = Limits(time_s=120, memory_bytes=8 << 30)


def run(job: str, folder: Path) -> Note | Failure:
    """A job of tests/support/process_jobs.py."""
    return run_job(f"process_jobs:{job}", Request(folder=folder, target="CPU"), Note, LIMITS)


def test_a_job_that_fills_its_disk(tmp_path):
    """With no space even for its own error, the cause is the full disk, and with space again the next job runs."""
    with small_disk(tmp_path / "disk", 1 << 20) as disk:
        found = run("fill_disk", disk / "job")
        assert found == Failure("disk full", f"a process had no space left to write its result to {disk / 'job'}")
        assert list((disk / "job").glob(".*.part*")) == []
        (disk / "job" / "big").unlink()
        assert run("say_hello", disk / "job") == Note("hello")


def test_a_job_that_fails_for_want_of_space_without_saying_so(tmp_path):
    """Whatever a library says, a disk without space is the cause; its words are kept."""
    with small_disk(tmp_path / "disk", 1 << 20) as disk:
        words = f"ValueError: the graph cannot be read (in {disk / 'job'})"
        assert run("fill_disk_in_silence", disk / "job") == Failure("disk full", words)


def test_a_job_that_finds_no_space(tmp_path):
    """Where its error can be written, it is quoted."""
    words = f"OSError: [Errno 28] No space left on device (in {tmp_path})"
    assert run("find_no_space", tmp_path) == Failure("disk full", words)


def test_a_job_whose_folder_is_deleted(tmp_path):
    """The cause is the folder, and its path is named."""
    words = f"{tmp_path / 'job'} was deleted or moved while a process was at work there"
    assert run("delete_folder", tmp_path / "job") == Failure("folder gone", words)


def test_a_job_in_a_read_only_folder(tmp_path):
    """It is not started, and one error says why."""
    with read_only(tmp_path), pytest.raises(NotWritten) as refused:
        run("say_hello", tmp_path / "job")
    assert str(refused.value) == f"cannot write {tmp_path / 'job'}: the file system is read-only"


def test_a_job_on_a_full_disk(tmp_path):
    """It is not started, or says that the disk is full; with space again it runs."""
    with small_disk(tmp_path / "disk", 1 << 20) as disk:
        (disk / "job").mkdir()
        filler = fill(disk)
        found = run("say_hello", disk / "job")
        assert isinstance(found, Failure)
        assert found.cause == "disk full"
        filler.unlink()
        assert run("say_hello", disk / "job") == Note("hello")


def test_a_trial_whose_disk_fills_up(tmp_path, make_evaluator):
    """It is no outcome of the policy, but an error that stops whoever asked for the trial."""
    evaluator: Evaluator = make_evaluator("leaving_workloads:make_filling")
    with small_disk(tmp_path / "disk", 4 << 20) as disk, pytest.raises(HalfwiseError, match=r"^disk full: "):
        evaluator.evaluate(BUILTIN["O0"], "O0", disk / "trial")
