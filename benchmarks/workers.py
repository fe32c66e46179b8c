"""How much sooner two workers finish the trials of a search than one worker with its best thread setting."""

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

from halfwise.experiments.cores import THREADS_VARIABLE
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.study_file import read_records
from halfwise.policies.errors import HalfwiseError

from .bench import Bench, Figure, Say, alternate

CORES, TRIALS, ROUNDS, TARGET = 2, 20, 2, 1.5
WORKLOAD = "tabular-mlp"
# The same policies in both: drawn, not learnt, so that it does not matter which trial is over first.
_EXPERIMENT = f"""\
schema: halfwise/experiment/1
workload: {WORKLOAD}
trials: {TRIALS}
sampler: random
levels: false
rungs: 1
confirm: none
speed: {{priced: a100-tf32}}
"""
_ONE = "one worker, {} threads"
_TWO = "two workers"


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Run all settings in turn; only the trials are timed, since before them one process works alone."""
    say(f"{TRIALS} priced-speed trials of {WORKLOAD} on {CORES} cores; load before: {os.getloadavg()[0]:.1f}")
    file = folder / "workers.yaml"
    file.write_text(_EXPERIMENT, encoding="utf-8")
    settings: dict[str, tuple[int, Mapping[str, str]]] = {
        **{_ONE.format(threads): (1, {THREADS_VARIABLE: str(threads)}) for threads in (1, CORES)},
        _TWO: (CORES, {}),
    }
    runs = [partial(_trials_s, file, name, *setting, say) for name, setting in settings.items()]
    times_s = dict(zip(settings, map(median, alternate(ROUNDS, *runs)), strict=True))
    two_s = times_s.pop(_TWO)
    best = min(times_s, key=lambda name: times_s[name])
    say(
        f"medians: {', '.join(f'{name} {time_s:.1f} s' for name, time_s in times_s.items())}, {_TWO} {two_s:.1f} s"
    )
    return (Figure(f"{_TWO} against {best}", times_s[best] / two_s, "at least", TARGET, "x"),)


def _trials_s(file: Path, name: str, workers: int, environment: Mapping[str, str], say: Say) -> float:
    """From the moment when the first trial is handed out until the last one is on the disk."""
    home = Home(file.parent / f"{name} {len(list(file.parent.iterdir()))}".replace(" ", "-").replace(",", ""))
    program = Path(sys.executable).with_name("halfwise")
    inherited = {key: value for key, value in os.environ.items() if key != THREADS_VARIABLE}
    done = subprocess.run(
        [program, "search", file, "--home", home.path, "--workers", str(workers), "--no-mlflow", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        env={**inherited, **environment},
        preexec_fn=_keep_to_cores,
    )
    if done.returncode != 0:
        raise HalfwiseError(f"the search of {name} ended with exit code {done.returncode}: {done.stderr[-1500:]}")
    took_s, trained = _span_s(home.study_folder(file.stem))
    say(f"{name}: {took_s:.1f} s, {trained} of {TRIALS} trained; load after: {os.getloadavg()[0]:.1f}")
    return took_s


def _span_s(folder: StudyFolder) -> tuple[float, int]:
    """That time by the files' own times, and how many trials trained themselves."""
    records = read_records(folder)
    if len(records) != TRIALS:
        raise HalfwiseError(f"{folder.path} holds {len(records)} trials, not {TRIALS}")
    began_s = min((record.folder / "policy.yaml").stat().st_mtime for record in records)
    ended_s = max((record.folder / "outcome.json").stat().st_mtime for record in records)
    return ended_s - began_s, sum(record.outcome.steps_run > 0 for record in records)


def _keep_to_cores() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


BENCH = Bench(
    "workers",
    f"{CORES} workers on {CORES} quiet cores: at least {TARGET}x faster than one with its best thread setting",
    run,
)
