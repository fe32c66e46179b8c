"""Whatever happens to a trial's process becomes an outcome, and the next trial is unaffected."""

import os
import time

import pytest
from process_jobs import LOADER

from halfwise.evaluators.process import Limits
from halfwise.policies.errors import HalfwiseError


def test_a_workload_that_raises(run_trial):
    """An exception is an outcome with its kind and words."""
    outcome = run_trial("make_raising")
    assert (outcome.status, outcome.cause) == ("failed", "raised")
    assert outcome.message == "RuntimeError: the data set is on strike"


def test_a_trial_that_hangs_is_ended_at_its_limit(run_trial):
    """Past its time limit a trial is ended, and says so."""
    started = time.monotonic()
    outcome = run_trial("make_hanging", limits=Limits(time_s=4, memory_bytes=4 << 30))
    assert (outcome.status, outcome.cause) == ("failed", "time limit")
    assert "after 4 s" in outcome.message
    assert time.monotonic() - started < 30


def test_a_trial_that_is_killed(run_trial):
    """A killed process is an outcome that names the signal."""
    outcome = run_trial("make_killed")
    assert (outcome.status, outcome.cause) == ("failed", "killed")
    assert "SIGKILL" in outcome.message


@pytest.mark.parametrize("workload", ["make_hoarding", "make_exhausted"])
def test_a_trial_without_memory(run_trial, workload):
    """Passing the memory limit, and running into MemoryError, are both "out of memory"."""
    outcome = run_trial(workload, limits=Limits(time_s=120, memory_bytes=1 << 30))
    assert (outcome.status, outcome.cause) == ("failed", "out of memory")


def test_output_is_bounded(run_trial, tmp_path):
    """Of 105 MB of output at most 4 MiB stay, its start and its end, and the trial trains all the same."""
    assert run_trial("make_loud").status == "trained"
    log = tmp_path / "trial-0" / "output.log"
    assert 0 < log.stat().st_size <= 4 << 20


def test_processes_that_outlive_their_trial_are_ended(run_trial, processes_with):
    """Fifty processes of a data loader, half of them in sessions of their own, are gone when the trial is over."""
    assert run_trial("leaving_workloads:make_parent").status == "trained"
    assert processes_with(LOADER) == []


def test_a_deleted_working_folder(run_trial, tmp_path, monkeypatch):
    """Started from a folder that is gone, a trial says what it needs."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        with pytest.raises(HalfwiseError, match="the working folder no longer exists"):
            run_trial("make_tiny")
    finally:
        os.chdir("/")


def test_the_next_trial_after_a_bad_one(run_trial):
    """After each kind of failure, the same trial gives the same losses as before."""
    before = run_trial("make_tiny", "O3").losses
    for workload in ("make_raising", "make_killed", "make_overflowing"):
        run_trial(workload, "O3")
    assert run_trial("make_tiny", "O3").losses == before
