"""How soon a trial's process is ready, against a new interpreter that imports mindspore."""

import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

from halfwise.evaluators.device_facts import CONVOLUTION_FIX
from halfwise.evaluators.request import Request

from .bench import Bench, Figure, Say, alternate
from .jobs import ENTRY_JOB, FIRST_STEP_JOB, Entry, FirstStep, answer, steps_request

ROUNDS = 20
FIRST_STEPS = 3
TARGET = 0.1


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Start both kinds of process in turn; print where a trial's time goes until its first step is finished."""
    say(f"{ROUNDS} trial processes and {ROUNDS} new interpreters, in turn")
    # The first process of all starts the forkserver, which imports mindspore once for a whole search.
    _trial_process_s(folder)
    trial_s, interpreter_s = map(median, alternate(ROUNDS, partial(_trial_process_s, folder), _interpreter_s))
    say(f"a trial's process is ready after {1000 * trial_s:.0f} ms, a new interpreter after {interpreter_s:.2f} s")
    _say_first_step(folder, say)
    return (
        Figure("a trial's process against a new interpreter", trial_s / interpreter_s, "at most", TARGET, "x"),
    )


def _trial_process_s(folder: Path) -> float:
    started = time.monotonic()
    request = Request(folder=folder / "entry", target="CPU")
    return answer(ENTRY_JOB, request, Entry).entered_s - started


def _interpreter_s() -> float:
    started = time.monotonic()
    program = "import time, mindspore; print(time.monotonic())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1]) - started


def _say_first_step(folder: Path, say: Say) -> None:
    request = steps_request(folder / "first-step", "digits-resnet", "O0", 1, CONVOLUTION_FIX)
    found = [answer(FIRST_STEP_JOB, request, FirstStep) for _ in range(FIRST_STEPS)]
    build_s = median(moments.built_s - moments.entered_s for moments in found)
    compile_s = median(moments.compiled_s - moments.built_s for moments in found)
    step_s = median(moments.stepped_s - moments.compiled_s for moments in found)
    say(
        f"from there to the first finished step of digits-resnet: {build_s + step_s:.2f} s "
        f"(build {build_s:.2f} s, step {step_s:.2f} s) and {compile_s:.2f} s of compilation"
    )


BENCH = Bench(
    "process",
    f"a trial's process, ready for its workload: at most {TARGET:g}x a new interpreter that imports mindspore",
    run,
)
