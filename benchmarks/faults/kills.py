"""One study whose processes are killed at random moments until it is over, and what must hold all the while."""

import json
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from halfwise.policies.errors import HalfwiseError

from .family import Family, Role
from .judging import doubled, last_words
from .study import FaultyStudy, Snapshot, Standing

WORKERS = 2
# A search cannot begin without a look at its device and its workload: where that process was killed, it says so
# and ends. What is said of a killed trial is in its outcome instead.
_LOOK_KILLED = re.compile(r"halfwise: .*killed: the process was ended by SIGKILL")
# Between two kills there is at most the time that a search takes from its start to its first trial, as long as
# that is on this machine: so they hit processes that load, and processes that have a trial under way.
_LEAST_PAUSE_S = 4.0
# Where so few trials are left before the last kill, the search is started again with so many more.
_FEW_TRIALS, _MORE_TRIALS = 2, 5
_WEIGHTS: dict[Role, int] = {"search": 4, "worker": 4, "trial": 3}
# So many kills hit whoever has just written an outcome: what lies between that and its telling is over in no time.
_AT_AN_OUTCOME = 0.3
_FIRST_TRIAL_S, _END_S, _LEAVING_S = 180.0, 900.0, 30.0
_POLL_S, _KEEN_POLL_S = 0.05, 0.005


@dataclass(frozen=True)
class Verdict:
    """What a siege has shown: each fault in words, none where all is as it must be.

    `finished` is how many trials were on the disk at some kill, `kills` what was killed by role, `lost_by_process`
    how many were interrupted by the process that ran them. `resumed_s` is the time between the last
    start of the search, after everything was killed, and the moment when nothing is RUNNING that was before.
    """

    finished: int
    kills: Counter[Role]
    lost: tuple[str, ...]
    doubled: tuple[str, ...]
    running: tuple[str, ...]
    broken: tuple[str, ...]
    lost_by_process: Counter[int]
    failed: int
    resumed_s: float


@dataclass
class Siege:
    """Kills the processes of one study, a random one at each random moment, and starts the search again.

    `trials` is the study's budget, which grows where it is used up too soon.
    """

    study: FaultyStudy
    family: Family
    seed: int
    say: Callable[[str], None]
    trials: int
    snapshots: list[Snapshot] = field(default_factory=list[Snapshot])
    killed: list[tuple[int, Role]] = field(default_factory=list[tuple[int, Role]])
    broken: list[str] = field(default_factory=list[str])

    def run(self, kills: int) -> Verdict:
        """Begin the study, kill so many times, then everything at once; let it come to its end, and judge.

        Raises:
            HalfwiseError: the study does not begin, or does not end.
        """
        self.study.prepare()
        draw = random.Random(self.seed)
        search, started_s = self._start(), time.monotonic()
        self._await_trials(search, 1)
        pause_s = max(time.monotonic() - started_s, _LEAST_PAUSE_S)
        for number in range(1, kills):
            author = self._pause(draw, pause_s)
            search = self._going_on(search, number)
            self._kill_one(draw, author)
            self.say(f"kill {number}: {self.killed[-1][1]}, {len(self.snapshots[-1].outcomes)} trials finished")
            if search.pid == self.killed[-1][0]:
                search.wait()
                time.sleep(draw.uniform(0, pause_s) / 2)
                search = self._start_again()
        resumed_s, search = self._kill_all(self._with_a_trial_under_way(search, kills))
        self._await_end(search)
        return self._judged(resumed_s)

    def _start(self) -> subprocess.Popen[bytes]:
        options = ("--workers", str(WORKERS), "--trials", str(self.trials), "--no-mlflow", "--quiet")
        return self.family.start(self.study.search(*options), self.study.place, self.study.log)

    def _going_on(self, search: subprocess.Popen[bytes], number: int) -> subprocess.Popen[bytes]:
        """The search, started again if it is over."""
        if search.poll() is None:
            return search
        words = last_words(self.study.log)
        if search.returncode != 0 and not _LOOK_KILLED.match(words.rpartition("\n")[2]):
            self.broken.append(f"before kill {number} the search ended by itself: {words}")
        return self._start_again()

    def _start_again(self) -> subprocess.Popen[bytes]:
        """With enough trials to make for another kill."""
        if len(Snapshot.take(self.study.folder).outcomes) + _FEW_TRIALS > self.trials:
            self.trials += _MORE_TRIALS
        return self._start()

    def _with_a_trial_under_way(self, search: subprocess.Popen[bytes], number: int) -> subprocess.Popen[bytes]:
        deadline = time.monotonic() + _FIRST_TRIAL_S
        while not Standing.look(self.study).in_flight:
            search = self._going_on(search, number)
            if time.monotonic() > deadline:
                raise HalfwiseError(f"the study does not go on: {last_words(self.study.log)}")
            time.sleep(_POLL_S)
        return search

    def _pause(self, draw: random.Random, most_s: float) -> Role | None:
        """Wait until a random moment, or until an outcome is written: then it is said by whom."""
        if draw.random() < _AT_AN_OUTCOME:
            return self._author_of_next(most_s)
        time.sleep(draw.uniform(0, most_s))
        return None

    def _kill_one(self, draw: random.Random, author: Role | None) -> None:
        there = self.family.by_role()
        roles: list[Role] = [role for role in there if there[role]]
        role = author if author in roles else draw.choices(roles, [_WEIGHTS[each] for each in roles])[0]
        self._kill(draw.choice(there[role]), role)
        self._look()

    def _author_of_next(self, patience_s: float) -> Role | None:
        """Who writes the next outcome, or puts a longer training's in its place, as soon as it is there."""
        before, deadline = _written(self.study), time.monotonic() + patience_s
        while time.monotonic() < deadline:
            new = [file for file, time_ns in _written(self.study).items() if before.get(file) != time_ns]
            if new:
                by_worker = new[0] not in before and json.loads(new[0].read_bytes())["worker"]
                return "worker" if by_worker else "search"
            time.sleep(_KEEN_POLL_S)
        return None

    def _kill_all(self, search: subprocess.Popen[bytes]) -> tuple[float, subprocess.Popen[bytes]]:
        """As if the power failed: seconds from the new start until nothing is left of what was RUNNING."""
        for role, members in self.family.by_role().items():
            for victim in members:
                self._kill(victim, role)
        search.wait()
        self.family.end()
        self._look()
        left = Standing.look(self.study).running
        search, started_s = self._start(), time.monotonic()
        while left & Standing.look(self.study).running:
            if time.monotonic() - started_s > _END_S:
                break
            time.sleep(20 * _POLL_S)
        return time.monotonic() - started_s, search

    def _kill(self, victim: psutil.Process, role: Role) -> None:
        with suppress(psutil.NoSuchProcess):
            victim.kill()
        self.killed.append((victim.pid, role))

    def _look(self) -> None:
        self.snapshots.append(Snapshot.take(self.study.folder))

    def _await_trials(self, search: subprocess.Popen[bytes], least: int) -> None:
        deadline = time.monotonic() + _FIRST_TRIAL_S
        while len(Snapshot.take(self.study.folder).outcomes) < least:
            if search.poll() is not None or time.monotonic() > deadline:
                raise HalfwiseError(f"the study did not begin: {last_words(self.study.log)}")
            time.sleep(_POLL_S)

    def _await_end(self, search: subprocess.Popen[bytes]) -> None:
        try:
            code = search.wait(_END_S)
        except subprocess.TimeoutExpired as error:
            raise HalfwiseError(f"the study did not end: {last_words(self.study.log)}") from error
        if code != 0:
            raise HalfwiseError(f"the search ended with exit code {code}: {last_words(self.study.log)}")

    def _judged(self, resumed_s: float) -> Verdict:
        end, standing = Snapshot.take(self.study.folder), Standing.look(self.study)
        by_number = {number: 0 for snapshot in self.snapshots for number in snapshot.outcomes}
        lost = {said for snapshot in self.snapshots for said in snapshot.lost_until(end)}
        running = [f"{name} {number} is RUNNING" for name, number in sorted(standing.running)]
        return Verdict(
            finished=len(by_number),
            kills=Counter(role for _, role in self.killed),
            lost=tuple(sorted(lost)),
            doubled=tuple(doubled(self.trials, end, standing)),
            running=(*running, *(f"process {words}" for words in self.family.left(_LEAVING_S))),
            broken=(*self.broken, *_faults_at_moments([*self.snapshots, end])),
            lost_by_process=Counter(standing.processes[each.number] for each in standing.interrupted),
            failed=sum(outcome.status == "failed" for outcome in end.outcomes.values()),
            resumed_s=resumed_s,
        )


@contextmanager
def besieging(study: FaultyStudy, seed: int, say: Callable[[str], None]) -> Iterator[Siege]:
    """A siege none of whose processes outlives it."""
    siege = Siege(study, Family(), seed, say, study.trials)
    try:
        yield siege
    finally:
        siege.family.end()


def _written(study: FaultyStudy) -> dict[Path, int]:
    """When each outcome was written."""
    found: dict[Path, int] = {}
    for file in study.folder.trials.glob("*/outcome.json"):
        # It may be put away just then.
        with suppress(FileNotFoundError):
            found[file] = file.stat().st_mtime_ns
    return found


def _faults_at_moments(moments: list[Snapshot]) -> Iterator[str]:
    """Whatever was there at one moment is there at the next, and can be read."""
    for number, (before, now) in enumerate(zip([moments[0], *moments], moments, strict=False), start=1):
        yield from (f"at kill {number}: {words}" for words in now.unreadable)
        if before.has_front and not now.has_front:
            yield f"at kill {number}: the front is gone"
        if before.has_best and not now.has_best:
            yield f"at kill {number}: the best policy is gone"
