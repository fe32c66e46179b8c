"""How soon the command line answers, against the time that importing mindspore takes."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from .bench import Bench, Figure, Say, alternate

ROUNDS = 9
TRIALS, LAYERS = 200, 50
HELP_TARGET = 0.3
# Twice what `--help` may take.
FRONT_TARGET = 0.6
_SUPPORT = Path(__file__).parents[1] / "tests" / "support"


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Start an interpreter that imports mindspore, `halfwise --help` and `halfwise front` in turn."""
    _make_study(folder)
    program = str(Path(sys.executable).with_name("halfwise"))
    commands = (
        (sys.executable, "-c", "import mindspore"),
        (program, "--help"),
        (program, "front", "large", "--home", str(folder)),
    )
    say(f"{ROUNDS} rounds; a study of {TRIALS} trials over {LAYERS} layers, which holds no sites")
    for command in commands:
        _seconds(command)
    mindspore_s, help_s, front_s = map(median, alternate(ROUNDS, *(partial(_seconds, each) for each in commands)))
    say(f"import mindspore {mindspore_s:.2f} s, halfwise --help {help_s:.2f} s, halfwise front {front_s:.2f} s")
    return (
        Figure("halfwise --help against importing mindspore", help_s / mindspore_s, "at most", HELP_TARGET, "x"),
        Figure("halfwise front against importing mindspore", front_s / mindspore_s, "at most", FRONT_TARGET, "x"),
    )


def _make_study(folder: Path) -> None:
    program = "import sys, large_study, pathlib; large_study.make_large_study(pathlib.Path(sys.argv[1]), {}, {})"
    command = [sys.executable, "-c", program.format(TRIALS, LAYERS), str(folder)]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(_SUPPORT)}, check=True)


def _seconds(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - started


BENCH = Bench(
    "cli",
    f"against importing mindspore: --help at most {HELP_TARGET:g}x, front of {TRIALS} trials {FRONT_TARGET:g}x",
    run,
)
