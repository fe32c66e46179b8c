"""The process that starts all jobs is only a process: it may be killed."""

import os
import signal
import threading
from multiprocessing import forkserver
from pathlib import Path

import pytest
from process_jobs import Note

from halfwise.evaluators import process
from halfwise.evaluators.process import Limits, run_job
from halfwise.evaluators.request import Request
from halfwise.policies.errors import HalfwiseError

LIMITS = Limits(time_s=120, memory_bytes=4 << 30)


@pytest.fixture
def killings(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """One entry for each fork server that is to be killed: so many seconds after it was asked to start a job."""
    left, start = [], process._start_server

    def start_and_kill() -> None:
        start()
        if left:
            server = getattr(forkserver, "_forkserver")._forkserver_pid  # noqa: B009
            # Until then it hears nothing, so that the job is never started.
            os.kill(server, signal.SIGSTOP)
            threading.Timer(left.pop(), os.kill, (server, signal.SIGKILL)).start()

    monkeypatch.setattr(process, "_start_server", start_and_kill)
    return left


def test_a_job_outlasts_a_fork_server_that_is_killed_as_it_starts(tmp_path: Path, killings: list[float]):
    """Another one is started, and the job runs."""
    killings.append(0.2)
    assert run_job("process_jobs:say_hello", Request(folder=tmp_path, target="CPU"), Note, LIMITS) == Note("hello")
    assert killings == []


def test_fork_servers_that_are_killed_each_time(tmp_path: Path, killings: list[float]):
    """When no fork server lives long enough, the error says so."""
    killings.extend([0.2] * 9)
    with pytest.raises(HalfwiseError, match="no process can be started"):
        run_job("process_jobs:say_hello", Request(folder=tmp_path, target="CPU"), Note, LIMITS)
