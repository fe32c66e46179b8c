"""Workers as processes: started, started again, and ended with the search; real ones, that do little."""

import sys
import time
from pathlib import Path

import pytest

from halfwise.experiments.crew import MOST_RESTARTS, Crew, Hand, holding_place, is_at_work
from halfwise.experiments.progress import Lines
from halfwise.policies.errors import HalfwiseError

# Holds its folder as a worker does, says that it is there, and leaves when told to.
PATIENT = """
import signal, sys, time
from pathlib import Path
from halfwise.experiments.crew import holding_place
def leave(*_):
    print("told to leave", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
with holding_place(Path(sys.argv[1])):
    print("here", flush=True)
    while not Path(sys.argv[1], "done").exists():
        time.sleep(0.01)
"""
SHOW = "import os; print(os.environ['WORD'], *os.sched_getaffinity(0), flush=True)"


def hand(folder: Path, program: str) -> Hand:
    """A worker that runs a Python program on one core, in a folder of its name."""
    place = folder / "worker-1"
    return Hand(place.name, (sys.executable, "-c", program, str(place)), {"WORD": "hello"}, frozenset({0}), place)


def wait_for_output(worker: Hand, word: str) -> str:
    """The output once the word is in it."""
    file = worker.folder / "output.log"
    while not file.exists() or word not in file.read_text():
        time.sleep(0.01)
    return file.read_text()


def test_workers_leave_by_themselves_at_the_end(tmp_path: Path) -> None:
    """They have their environment and their cores, and are not told to go."""
    worker = hand(tmp_path, SHOW + PATIENT)
    with Crew([worker]).at_work(Lines(print)):
        wait_for_output(worker, "here")
        assert is_at_work(worker.folder)
        (worker.folder / "done").touch()
    assert not is_at_work(worker.folder)
    assert wait_for_output(worker, "here") == "hello 0\nhere\n"


def test_workers_are_told_to_leave_where_the_search_breaks(tmp_path: Path) -> None:
    """The search's error goes on, and nothing of it is left running."""
    worker = hand(tmp_path, PATIENT)

    def search() -> None:
        with Crew([worker]).at_work(Lines(print)):
            wait_for_output(worker, "here")
            raise HalfwiseError("broken")

    with pytest.raises(HalfwiseError, match="broken"):
        search()
    assert not is_at_work(worker.folder)
    assert wait_for_output(worker, "leave") == "here\ntold to leave\n"


def test_a_worker_that_breaks_is_started_again_but_not_for_ever(tmp_path: Path) -> None:
    """Each time it is said why, with the last line of its output."""
    said: list[str] = []
    worker = hand(tmp_path, "print('one'); print('no such luck'); raise SystemExit(3)")
    crew = Crew([worker])
    with crew.at_work(Lines(said.append)):
        while len(said) <= MOST_RESTARTS:
            crew.watch(Lines(said.append))
            time.sleep(0.01)
        crew.watch(Lines(said.append))
    broken = "worker-1 ended with exit code 3: no such luck; "
    last = f"{broken}it is not started again, after {MOST_RESTARTS} new starts"
    assert said == [f"{broken}it is started again"] * MOST_RESTARTS + [last]
    assert wait_for_output(worker, "one") == "one\nno such luck\n" * (MOST_RESTARTS + 1)


def test_a_worker_that_has_done_its_work_is_not_missed(tmp_path: Path) -> None:
    """Exit code 0 is its own decision."""
    said: list[str] = []
    worker = hand(tmp_path, "print('done', flush=True)")
    crew = Crew([worker])
    with crew.at_work(Lines(said.append)):
        wait_for_output(worker, "done")
        for _ in range(20):
            crew.watch(Lines(said.append))
            time.sleep(0.01)
    assert said == []
    assert wait_for_output(worker, "done") == "done\n"


def test_a_worker_of_an_earlier_start_goes_on(tmp_path: Path) -> None:
    """Its search was killed: the next one starts no second worker in its place, nor ends it."""
    said: list[str] = []
    worker = hand(tmp_path, PATIENT)
    with holding_place(worker.folder), Crew([worker]).at_work(Lines(said.append)):
        pass
    assert said == ["worker-1 of an earlier start is still at work, and goes on"]
    assert not (worker.folder / "output.log").exists()


def test_two_workers_of_one_name_are_one_too_many(tmp_path: Path) -> None:
    """They would share a ledger."""
    with holding_place(tmp_path), pytest.raises(HalfwiseError, match="another worker is at work in"):
        holding_place(tmp_path).__enter__()
