"""Workers with folders of their own, as on several machines, over one database; one of them is killed."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from halfwise.experiments.home import Home
from halfwise.policies.errors import HalfwiseError

from .family import Family
from .judging import doubled, last_words
from .study import FaultyStudy, Snapshot, Standing

_BEGIN_S, _END_S, _LEAVING_S = 180.0, 1800.0, 30.0
_POLL_S = 0.2


@dataclass(frozen=True)
class Harvest:
    """What the machines came to, each fault in words: `returned` is the killed worker's trial, made by another."""

    lost: tuple[str, ...]
    doubled: tuple[str, ...]
    running: tuple[str, ...]
    by_worker: dict[str, int]
    returned: bool
    time_s: float


def harvest(place: Path, url: str, workers: int, trials: int, say: Callable[[str], None]) -> Harvest:
    """Let a search and its workers, so many with it, make the trials; kill a worker that has one under way.

    Raises:
        HalfwiseError: the study does not begin or end, or no worker gets as far as a trial.
    """
    study = FaultyStudy(place / "search", trials, url, name=f"machines-{workers}-{trials}", rungs=1)
    family, started_s = Family(), time.monotonic()
    study.prepare()
    try:
        search = family.start(study.search("--no-mlflow", "--quiet"), study.place, study.log)
        _await_begin(study, search)
        homes = {f"machine-{number}": place / f"machine-{number}" for number in range(1, workers)}
        processes = {name: _hired(study, family, home, name) for name, home in homes.items()}
        say(f"{workers} processes, each with a folder of its own")
        number = _kill_one_at_work(study, processes)
        say(f"killed a worker that had trial {number} under way")
        if search.wait(_END_S) != 0:
            raise HalfwiseError(f"the search ended with exit code {search.returncode}: {last_words(study.log)}")
        left = family.left(_LEAVING_S)
    except subprocess.TimeoutExpired as error:
        raise HalfwiseError(f"the study did not end: {last_words(study.log)}") from error
    finally:
        family.end()
    return _judged(study, homes, number, left, time.monotonic() - started_s)


def _hired(study: FaultyStudy, family: Family, home: Path, name: str) -> "subprocess.Popen[bytes]":
    home.mkdir()
    return family.start(study.worker(home, name), study.place, home / "output.log")


def _await_begin(study: FaultyStudy, search: "subprocess.Popen[bytes]") -> None:
    """Until the first trial is over: from then on workers are welcome."""
    deadline = time.monotonic() + _BEGIN_S
    while not Snapshot.take(study.folder).outcomes:
        if search.poll() is not None or time.monotonic() > deadline:
            raise HalfwiseError(f"the study did not begin: {last_words(study.log)}")
        time.sleep(_POLL_S)


def _kill_one_at_work(study: FaultyStudy, processes: dict[str, "subprocess.Popen[bytes]"]) -> int:
    """Kill a worker while it runs a trial; the number of that trial, which it has not told."""
    deadline = time.monotonic() + _BEGIN_S
    while time.monotonic() < deadline:
        standing = Standing.look(study)
        for name, process in list(processes.items()):
            numbers = [number for number in standing.in_flight if standing.processes[number] == process.pid]
            if not numbers:
                continue
            process.kill()
            process.wait()
            del processes[name]
            if numbers[0] not in {each.number for each in Standing.look(study).counted}:
                return numbers[0]
        time.sleep(_POLL_S)
    raise HalfwiseError(f"no worker had a trial under way: {last_words(study.log)}")


def _judged(
    study: FaultyStudy, homes: dict[str, Path], number: int, left: tuple[str, ...], time_s: float
) -> Harvest:
    end, standing = Snapshot.take(study.folder), Standing.look(study)
    lost: list[str] = []
    for name, home in homes.items():
        theirs = Snapshot.take(Home(home).study_folder(study.name))
        lost += [f"{name}: {said}" for said in theirs.lost_until(end)]
    digests = {each.number: each.digest for each in standing.interrupted}
    again = [each for each in standing.counted if each.digest == digests.get(number) and each.number > number]
    names = [outcome.worker or "search" for outcome in end.outcomes.values()]
    return Harvest(
        lost=tuple(lost),
        doubled=tuple(doubled(study.trials, end, standing)),
        running=(*(f"{name} {each} is RUNNING" for name, each in sorted(standing.running)), *left),
        by_worker={name: names.count(name) for name in sorted(set(names))},
        returned=bool(again),
        time_s=time_s,
    )
