"""How cores are shared out."""

import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.experiments.cores import THREADS_VARIABLE, on_cores, own_cores, share_of, threads_environment

CORES = st.frozensets(st.integers(0, 300), min_size=1, max_size=64)


@given(CORES, st.integers(1, 80))
def test_shares_cover_all_cores_evenly(cores: frozenset[int], of: int) -> None:
    """Nobody goes without; with enough cores each is given once, and sizes differ by one at most."""
    shares = [share_of(cores, place, of) for place in range(of)]
    assert all(share and share <= cores for share in shares)
    if of <= len(cores):
        assert frozenset().union(*shares) == cores
        assert sum(map(len, shares)) == len(cores)
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_what_is_started_meanwhile_keeps_to_the_cores() -> None:
    """Processes and threads inherit the share; this thread has all of its own again afterwards."""
    before = own_cores()
    one = frozenset({max(before)})
    found: list[frozenset[int]] = []
    with on_cores(one):
        thread = threading.Thread(target=lambda: found.append(own_cores()))
        thread.start()
        thread.join()
        told = subprocess.check_output(
            [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"], text=True
        )
    assert found == [one]
    assert told.split() == [str(max(before))]
    assert own_cores() == before


def test_a_number_of_threads_that_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a process gets one thread a core."""
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    assert threads_environment(frozenset({2, 3})) == {THREADS_VARIABLE: "2"}
    monkeypatch.setenv(THREADS_VARIABLE, "7")
    assert threads_environment(frozenset({2, 3})) == {}
    assert os.environ[THREADS_VARIABLE] == "7"
