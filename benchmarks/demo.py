"""What `./dev demo` takes: wall time, memory, and what became of its trials."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from halfwise.experiments.home import Home
from halfwise.experiments.records import TrialRecord
from halfwise.experiments.study_file import read_records
from halfwise.policies.errors import HalfwiseError

from .bench import Bench, Figure, Say

# The command line of `demo` in ./dev.
EXPERIMENT = Path("examples/digits-resnet.yaml")
CORES = 2
TIME_TARGET_S = 180
MEMORY_TARGET_GIB = 2


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Run the demo in a home of its own, on two cores, and read its trials back."""
    quiet = _quiet_words()
    say(f"30 trials of digits-resnet on {CORES} cores; {quiet}")
    started = time.monotonic()
    _search(folder)
    wall_s = time.monotonic() - started
    trials = read_records(Home(folder).study_folder(EXPERIMENT.stem))
    counts = Counter(trial.outcome.status for trial in trials)
    say(f"{len(trials)} trials in {wall_s:.0f} s: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    return (
        Figure("wall time of 30 trials", wall_s, "at most", TIME_TARGET_S, " s"),
        Figure("trials", len(trials), "at least", 30, ""),
        Figure("most memory that a trial's process held", _peak_gib(trials), "at most", MEMORY_TARGET_GIB, " GiB"),
    )


def _quiet_words() -> str:
    """How busy the machine was before: the time is only stated for quiet cores."""
    busy = os.getloadavg()[0]
    return f"load before: {busy:.1f}" + ("" if busy < 0.5 else ", so the machine was not quiet")


def _search(folder: Path) -> None:
    program = Path(sys.executable).with_name("halfwise")
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [program, "search", EXPERIMENT, "--home", folder],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_keep_to_cores,
    )
    if done.returncode != 0:
        raise HalfwiseError(f"the demo ended with exit code {done.returncode}:\n{done.stderr[-2000:]}")


def _keep_to_cores() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def _peak_gib(trials: list[TrialRecord]) -> float:
    """NaN, which meets no target, where no trial got as far as to know."""
    peaks = [trial.outcome.peak_memory_bytes for trial in trials if trial.outcome.peak_memory_bytes]
    return max(peaks) / 2**30 if peaks else float("nan")


BENCH = Bench(
    "demo",
    f"./dev demo: 30 trials in at most {TIME_TARGET_S} s on {CORES} quiet cores, "
    f"at most {MEMORY_TARGET_GIB} GiB a worker",
    run,
)
