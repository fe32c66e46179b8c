"""A study and its workers as a state machine: whatever they do in whatever order, the books are right."""

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from halfwise.policies.errors import HalfwiseError
from halfwise.search.lease import Owner
from halfwise.search.study import Search
from halfwise.search.told import Busy, Proposal

from .fake_search import LEVELS
from .places import Place, journal_in

LIMIT, FIXED = 7, LEVELS[:2]
WORKERS = st.integers(0, 2)


@dataclass
class Worker:
    """A search whose process is a real one that does nothing, so that it can be killed."""

    search: Search
    process: "subprocess.Popen[bytes]"
    trials: set[int] = field(default_factory=set[int])

    @property
    def alive(self) -> bool:
        """Whether it was not killed."""
        return self.process.poll() is None


def start_worker(place: Place) -> Worker:
    """A worker that has just come."""
    process = subprocess.Popen(["sleep", "600"])
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    owner = replace(Owner.here(), pid=process.pid, started=int(fields[19]))
    return Worker(place.open(fixed=FIXED, owner=owner), process)


class Workers(RuleBasedStateMachine):
    """Three workers, each replaced when it is killed; the model knows what became of each trial."""

    @initialize()
    def begin(self) -> None:
        """A new study."""
        self.folder = Path(tempfile.mkdtemp(prefix="halfwise-machine-"))
        self.place = journal_in(self.folder)
        self.workers = [start_worker(self.place) for _ in range(3)]
        self.killed: list[Worker] = []
        self.running: set[int] = set()
        self.told: dict[int, str] = {}
        self.interrupted: set[int] = set()
        self.names: dict[int, str | None] = {}

    @rule(worker=WORKERS)
    def ask(self, worker: int) -> None:
        """A proposal with the next number, unless all that there may be are made."""
        counted = len(self.running) + len(self.told)
        found = self.workers[worker].search.ask(LIMIT)
        if counted == LIMIT:
            assert found == (Busy(len(self.running)) if self.running else None)
            return
        assert isinstance(found, Proposal)
        assert found.number == len(self.names)
        live = {self.names[number] for number in (*self.running, *self.told)}
        missing = [name for name, _ in FIXED if name not in live]
        assert found.name == (missing[0] if missing else None)
        self.names[found.number] = found.name
        self.running.add(found.number)
        self.workers[worker].trials.add(found.number)

    @rule(worker=WORKERS, kind=st.sampled_from(["trained", "infeasible", "failed"]))
    def tell(self, worker: int, kind: str) -> None:
        """The worker's oldest trial is over."""
        teller = self.workers[worker]
        if teller.trials:
            number = min(teller.trials)
            self._tell(teller, number, kind)
            self.running.remove(number)
            self.told[number] = kind

    @rule(worker=WORKERS)
    def kill(self, worker: int) -> None:
        """A worker is killed, and another one comes."""
        self.workers[worker].process.kill()
        self.workers[worker].process.wait()
        self.killed.append(self.workers[worker])
        self.workers[worker] = start_worker(self.place)

    @rule(worker=WORKERS, adopts=st.booleans())
    def recover(self, worker: int, adopts: bool) -> None:
        """The trials of killed workers are found, by anybody, and adopted or given up."""
        finder = self.workers[worker]
        lost = {number for dead in self.killed for number in dead.trials}
        assert {proposal.number for proposal in finder.search.abandoned()} == lost
        for number in lost:
            if adopts:
                finder.search.adopt(number)
                finder.trials.add(number)
            else:
                finder.search.give_up(number)
                self.running.remove(number)
                self.interrupted.add(number)
        for dead in self.killed:
            dead.trials.clear()

    @precondition(lambda self: self.interrupted and self.killed)
    @rule()
    def tell_late(self) -> None:
        """What a worker tells of a trial that was given up is refused."""
        for dead in self.killed:
            for number in self.interrupted:
                with pytest.raises(HalfwiseError):
                    self._tell(dead, number, "trained")

    @rule(worker=WORKERS)
    def beat(self, worker: int) -> None:
        """Who runs what it runs has lost nothing."""
        assert self.workers[worker].search.beat() == ()

    @invariant()
    def the_books_are_right(self) -> None:
        """Everybody reads the same of each trial, and no more are counted than there may be."""
        for worker in self.workers[:1]:
            finished = worker.search.finished()
            expected = {**self.told, **dict.fromkeys(self.interrupted, "failed")}
            assert {told.number: told.status for told in finished} == expected
            assert {told.number for told in finished if told.interrupted} == self.interrupted
            assert worker.search.in_flight() == len(self.running)
            assert worker.search.counted() == len(self.running) + len(self.told) <= LIMIT

    def teardown(self) -> None:
        """End the processes that nobody has killed."""
        for worker in self.workers:
            worker.process.kill()
            worker.process.wait()
        shutil.rmtree(self.folder)

    def _tell(self, worker: Worker, number: int, kind: str) -> None:
        if kind == "trained":
            worker.search.tell(number, 0.5, 100.0)
        elif kind == "infeasible":
            worker.search.tell_infeasible(number, "non-finite at step 0")
        else:
            worker.search.tell_failed(number, "killed")
        worker.trials.remove(number)


TestWorkers = Workers.TestCase
TestWorkers.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
