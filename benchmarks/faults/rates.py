"""How many trials a second a storage can take, asked for and told by one process or several, without training."""

import subprocess
import sys
import time
from pathlib import Path

from halfwise.policies.errors import HalfwiseError

from .asker import Task

_ROOT = Path(__file__).parents[2]


def trials_per_s(task: Task, processes: int) -> float:
    """From the moment when all processes have the study open until the last of them has ended.

    Raises:
        HalfwiseError: one of them fails.
    """
    askers = [_asker(task) for _ in range(processes)]
    try:
        for asker in askers:
            _await_ready(asker)
        started_s = time.monotonic()
        for asker in askers:
            _write_line(asker, "go")
        codes = [asker.wait() for asker in askers]
        took_s = time.monotonic() - started_s
    finally:
        for asker in askers:
            asker.kill()
            asker.wait()
    if any(codes):
        raise HalfwiseError(f"a process that asked for trials ended with exit codes {codes}")
    return task.trials / took_s


def _asker(task: Task) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "benchmarks.faults.asker"]
    asker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT)
    _write_line(asker, task.model_dump_json())
    return asker


def _await_ready(asker: "subprocess.Popen[str]") -> None:
    if asker.stdout is None or asker.stdout.readline().strip() != "ready":
        raise HalfwiseError("a process could not open the study")


def _write_line(asker: "subprocess.Popen[str]", line: str) -> None:
    if asker.stdin is not None:
        asker.stdin.write(f"{line}\n")
        asker.stdin.flush()
