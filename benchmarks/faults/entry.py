"""Whole studies under faults: 50 kills, eight workers over PostgreSQL, and how fast the storages can be."""

from pathlib import Path

from tests.support.postgres import running_postgres

from ..bench import Bench, Figure, Say
from .asker import Task
from .kills import Verdict, besieging
from .machines import harvest
from .rates import trials_per_s
from .study import FaultyStudy

KILLS, POSTGRESQL_KILLS, SEED = 50, 20, 1
MACHINES, TRIALS_EACH = 8, 25
RATE_TRIALS, RATE_PROCESSES = 100, (1, 8)
RESUMED_TARGET_S = 60
# Eight workers whose trials take four seconds each.
RATE_TARGET = 2


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """All on this machine, with a PostgreSQL server that is started for it."""
    figures = _besieged(FaultyStudy(folder / "journal", trials=KILLS), KILLS, "journal", say)
    with running_postgres(options=()) as server:
        study = FaultyStudy(folder / "postgresql", trials=POSTGRESQL_KILLS, storage=server.url, name="killed")
        figures += _besieged(study, POSTGRESQL_KILLS, "PostgreSQL", say)
        figures += _harvested(folder / "machines", server.url, say)
        figures += _rates(folder, server.url, say)
    return figures


def _besieged(study: FaultyStudy, kills: int, storage: str, say: Say) -> tuple[Figure, ...]:
    say(f"{storage}: {kills} kills at random moments of a search and its worker, the last one of everything")
    with besieging(study, SEED, say) as siege:
        verdict = siege.run(kills)
    say(f"{storage}: killed {dict(verdict.kills)}; {verdict.finished} trials had finished by then")
    say(f"{storage}: {verdict.lost_by_process.total()} trials were interrupted, {verdict.failed} failed")
    return _figures(verdict, storage, say)


def _figures(verdict: Verdict, storage: str, say: Say) -> tuple[Figure, ...]:
    faults = {
        "finished trials lost": verdict.lost,
        "trials counted twice, or not at all": verdict.doubled,
        "trials and processes left running": verdict.running,
        "files unreadable, searches ended by a kill below them": verdict.broken,
    }
    for what, said in faults.items():
        for words in said:
            say(f"{storage}: {what}: {words}")
    most = max(verdict.lost_by_process.values(), default=0)
    return (
        *(Figure(f"{storage}: {what}", len(said), "at most", 0, "") for what, said in faults.items()),
        Figure(f"{storage}: most trials that one killed process lost", most, "at most", 1, ""),
        Figure(
            f"{storage}: after the restart, until nothing of the killed is RUNNING",
            verdict.resumed_s,
            "at most",
            RESUMED_TARGET_S,
            " s",
        ),
    )


def _harvested(place: Path, url: str, say: Say) -> tuple[Figure, ...]:
    found = harvest(place, url, MACHINES, MACHINES * TRIALS_EACH, say)
    say(f"{MACHINES} x {TRIALS_EACH} trials in {found.time_s:.0f} s: {found.by_worker}")
    for words in (*found.lost, *found.doubled, *found.running):
        say(f"{MACHINES} workers: {words}")
    where = f"PostgreSQL, {MACHINES} workers"
    return (
        Figure(f"{where}: finished trials lost", len(found.lost), "at most", 0, ""),
        Figure(f"{where}: trials counted twice, or not at all", len(found.doubled), "at most", 0, ""),
        Figure(f"{where}: trials and processes left running", len(found.running), "at most", 0, ""),
        Figure(f"{where}: trials of a killed worker that were made again", int(found.returned), "at least", 1, ""),
    )


def _rates(folder: Path, url: str, say: Say) -> tuple[Figure, ...]:
    say(f"{RATE_TRIALS} trials asked for and told, without training: trials a second")
    figures: list[Figure] = []
    for processes in RATE_PROCESSES:
        for storage, task_url in (("journal", None), ("PostgreSQL", url)):
            journal = folder / f"rate-{processes}.log"
            task = Task(url=task_url, journal=str(journal), study=f"rate-{processes}", trials=RATE_TRIALS)
            rate = trials_per_s(task, processes)
            what = f"{storage}, trials a second, {processes} processes"
            figures.append(Figure(what, rate, "at least", RATE_TARGET, ""))
    return tuple(figures)


BENCH = Bench(
    "faults",
    f"{KILLS} random kills in one study, {MACHINES} workers over PostgreSQL: nothing that finished is lost",
    run,
)
