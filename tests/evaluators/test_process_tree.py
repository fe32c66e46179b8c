"""Nothing that a job started outlives it, however the job, its data loader or the search itself ends."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from process_jobs import HeldRequest, LoaderRequest, Note, dying_search

from halfwise.evaluators.process import Failure, Limits, RunningJob, run_job, start_job
from halfwise.evaluators.request import Request
from halfwise.policies import BUILTIN

ROOMY = Limits(time_s=120, memory_bytes=8 << 30)
MIB = 1 << 20
MARK = f"left-behind-by-halfwise-test-{os.getpid()}"


def started(folder: Path, limits: Limits = ROOMY, **fields: object) -> RunningJob[Note]:
    """A job that leaves processes behind."""
    request = LoaderRequest.model_validate({"folder": folder, "target": "CPU", "mark": MARK, **fields})
    return start_job("process_jobs:leave_processes", request, Note, limits)


def hello(folder: Path) -> Note | Failure:
    """What the smallest of jobs says."""
    return run_job("process_jobs:say_hello", Request(folder=folder, target="CPU"), Note, ROOMY)


def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds, half a minute at most."""
    deadline = time.monotonic() + 30
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert holds()


@pytest.mark.parametrize(
    ("ending", "found"),
    [("return", Note("done")), ("killed", "killed"), ("hang", "time limit")],
)
def test_fifty_processes_that_outlive_their_job(tmp_path, processes_with, ending, found):
    """Children and orphans in sessions of their own are gone when the job's result is there, however it ended."""
    limits = Limits(time_s=8 if ending == "hang" else 120, memory_bytes=8 << 30)
    result = started(tmp_path, limits, ending=ending).result()
    assert processes_with(MARK) == []
    assert (result.cause if isinstance(result, Failure) else result) == found


def test_two_jobs_side_by_side_leave_each_other_alone(tmp_path, processes_with):
    """When one of two jobs ends, what the other one started lives on until that one ends."""
    first = started(tmp_path / "first", mark=f"{MARK}-first", processes=6, ending="hang")
    second = started(tmp_path / "second", mark=f"{MARK}-second", processes=6, ending="hang")
    until(lambda: all((tmp_path / name / "ready").exists() for name in ("first", "second")))
    first.end()
    assert isinstance(first.result(), Failure)
    assert processes_with(f"{MARK}-first") == []
    assert len(processes_with(f"{MARK}-second")) == 6
    second.end()
    second.result()
    assert processes_with(MARK) == []


def test_jobs_end_when_the_search_is_killed(tmp_path, processes_with):
    """After SIGKILL of the process that started it, a job and all that it left in other sessions end."""
    search = dying_search(tmp_path, MARK)
    output, errors = search.communicate(timeout=120)
    assert errors == ""
    until(lambda: not psutil.pid_exists(int(output)))
    assert processes_with(MARK) == []


def test_a_job_that_signals_its_whole_group(tmp_path):
    """It ends itself alone, and the outcome names the signal."""
    request = Request(folder=tmp_path, target="CPU")
    found = run_job("process_jobs:signal_own_group", request, Note, ROOMY)
    assert isinstance(found, Failure)
    assert (found.cause, "ended by SIGKILL" in found.message) == ("killed", True)


def test_a_job_that_crashes(tmp_path):
    """The outcome names the signal of a crash, too."""
    found = run_job("process_jobs:segfault", Request(folder=tmp_path, target="CPU"), Note, ROOMY)
    assert isinstance(found, Failure)
    assert found.message.startswith("the process was ended by SIGSEGV; its output is in ")


def test_a_job_hears_every_signal(tmp_path):
    """What is kept from the fork server and from watchers reaches jobs, but for what the caller ignores itself."""
    ignored = [each.name for each in (signal.SIGHUP, signal.SIGINT) if signal.getsignal(each) == signal.SIG_IGN]
    request = Request(folder=tmp_path, target="CPU")
    found = run_job("process_jobs:say_how_signals_are", request, Note, ROOMY)
    assert found == Note(" ".join(ignored))


def test_a_trial_is_the_likelier_victim(tmp_path):
    """Where the machine's memory runs out, the system picks the job before the search."""
    found = run_job("process_jobs:say_how_likely_a_victim", Request(folder=tmp_path, target="CPU"), Note, ROOMY)
    own = int(Path("/proc/self/oom_score_adj").read_text(encoding="ascii"))
    assert isinstance(found, Note)
    assert int(found.root) == max(own, 500)


@pytest.mark.parametrize("shared", [True, False])
def test_memory_of_processes_that_have_left_counts_once(tmp_path, shared):
    """What children and orphans in sessions of their own hold adds up; what they hold in common counts once."""
    request = HeldRequest(folder=tmp_path, target="CPU", processes=6, each_bytes=400 * MIB, shared=shared)
    limits = Limits(time_s=60, memory_bytes=1800 * MIB)
    found = run_job("process_jobs:hold_memory", request, Note, limits)
    if shared:
        assert found == Note("still here")
    else:
        assert isinstance(found, Failure)
        assert (found.cause, "over the limit of 1.76 GiB" in found.message) == ("out of memory", True)


def test_jobs_leave_nothing_in_the_caller(tmp_path):
    """After ten jobs the process has as many open files and children as before."""
    hello(tmp_path)
    before = caller()
    for _ in range(10):
        assert hello(tmp_path) == Note("hello")
    assert caller() == before


@pytest.mark.full
def test_memory_of_the_caller_over_a_hundred_jobs(tmp_path, make_evaluator):
    """It grows by less than 5%, and by no more with trainings among them."""
    evaluator = make_evaluator("make_tiny")

    def work(jobs: int, trials: int) -> None:
        for _ in range(jobs):
            assert hello(tmp_path / "hello") == Note("hello")
        for number in range(trials):
            assert evaluator.evaluate(BUILTIN["O0"], "O0", tmp_path / str(number)).status == "trained"

    work(jobs=5, trials=1)
    before = psutil.Process().memory_info().rss
    work(jobs=100, trials=3)
    assert psutil.Process().memory_info().rss < 1.05 * before


def caller() -> tuple[int, int]:
    """How many files this process holds open, and how many processes are below it."""
    return len(os.listdir("/proc/self/fd")), len(psutil.Process().children(recursive=True))
