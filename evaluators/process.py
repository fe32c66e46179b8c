"""Runs one job in one fresh process and turns whatever happens to it into a value.

MindSpore's precision state leaks between trainings of one process, so no process trains twice. A forkserver
that has imported mindspore and the trial's own modules, and touched nothing else, starts each child in some
20 ms (a new interpreter takes over a second); the caller's process never runs a MindSpore op.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

import psutil
from pydantic import BaseModel

from ..policies.errors import HalfwiseError, InputError
from .child import ChildError, enter
from .request import Request

ResultT = TypeVar("ResultT", bound=BaseModel)

# Imported once in the forkserver, so that no child pays for it; many workloads load their data with scikit-learn.
_PRELOADED = ("mindspore", "halfwise.evaluators.trial", "sklearn.datasets")
_POLL_S = 0.05
_LOG, _RESULT = "output.log", "result.json"
_LOG_LIMIT_BYTES = 4 << 20
_LOG_KEPT_BYTES = 256 << 10


@dataclass(frozen=True)
class Limits:
    """When a child is ended: seconds of wall time, and resident bytes of it and of all that it started."""

    time_s: float
    memory_bytes: int


@dataclass(frozen=True)
class Failure:
    """Why a child gave no result: a short cause, what there is to say, and whether its input was at fault."""

    cause: str
    message: str
    input_error: bool = False

    def as_error(self) -> HalfwiseError:
        """The failure as an exception, for jobs that the caller cannot do without."""
        kind = InputError if self.input_error else HalfwiseError
        return kind(self.message if self.cause == "raised" else f"{self.cause}: {self.message}")


@dataclass(frozen=True)
class RunningJob(Generic[ResultT]):
    """A job whose process has been started; `result` waits for it."""

    child: ForkServerProcess
    request: Request
    result_type: type[ResultT]
    limits: Limits

    def result(self) -> ResultT | Failure:
        """What the job returned, or why it returned nothing; whatever it started is ended then."""
        log = self.request.folder / _LOG
        try:
            ended = _watch(self.child, log, self.limits)
        finally:
            _end_group(self.child)
        _bound(log)
        return ended or _read_result(self.request.folder / _RESULT, self.result_type, self.child, log)

    def end(self) -> None:
        """End the process and whatever it started; `result` then says that it was killed."""
        _kill_group(self.child)


def start_job(job: str, request: Request, result_type: type[ResultT], limits: Limits) -> RunningJob[ResultT]:
    """Start a job in a fresh process.

    `job` is `module:function`: a function of one request that returns a `result_type`. It is named rather
    than handed over, so that this process need not import mindspore. Standard output and error of the child
    go to `output.log` in the request's folder; beyond 4 MiB its middle is dropped. The result is written
    aside and renamed, so a killed child leaves no half of it.

    Raises:
        HalfwiseError: the working folder is gone.
    """
    request.folder.mkdir(parents=True, exist_ok=True)
    log, result = request.folder / _LOG, request.folder / _RESULT
    for old in (log, result):
        old.unlink(missing_ok=True)
    return RunningJob(_start(job, request, log, result), request, result_type, limits)


def run_job(job: str, request: Request, result_type: type[ResultT], limits: Limits) -> ResultT | Failure:
    """Start a job and wait for it: its result, or why there is none; never raises for what happens in it."""
    return start_job(job, request, result_type, limits).result()


def _start(job: str, request: Request, log: Path, result: Path) -> ForkServerProcess:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    child = context.Process(target=enter, args=(job, request, log, result), daemon=False)
    try:
        with _without_main_module():
            child.start()
    except FileNotFoundError as error:
        raise HalfwiseError(
            "the working folder no longer exists, and no process can be started from there: change to another one"
        ) from error
    return child


@contextlib.contextmanager
def _without_main_module() -> Iterator[None]:
    # multiprocessing re-runs the caller's main module in each child: a user's training script would start
    # over, and a command line would be imported again for nothing.
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _watch(child: ForkServerProcess, log: Path, limits: Limits) -> Failure | None:
    deadline = time.monotonic() + limits.time_s
    while True:
        child.join(_POLL_S)
        if child.exitcode is not None:
            return None
        if time.monotonic() > deadline:
            return Failure("time limit", f"still running after {limits.time_s:g} s")
        used = _resident_bytes(child)
        if used > limits.memory_bytes:
            return Failure(
                "out of memory",
                f"held {used / 2**30:.2f} GiB, over the limit of {limits.memory_bytes / 2**30:.2f} GiB",
            )
        _bound(log)


def _resident_bytes(child: ForkServerProcess) -> int:
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(child.pid)
        for member in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                total += member.memory_info().rss
    return total


def _end_group(child: ForkServerProcess) -> None:
    # The child leads a session of its own, so its group holds whatever it started.
    _kill_group(child)
    if child.exitcode is None:
        child.kill()
    child.join()


def _kill_group(child: ForkServerProcess) -> None:
    if child.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _bound(log: Path) -> None:
    # The child appends, so after a cut its next line lands at the new end.
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size <= _LOG_LIMIT_BYTES:
            return
        with log.open("r+b") as file:
            file.seek(-_LOG_KEPT_BYTES, os.SEEK_END)
            tail = file.read(_LOG_KEPT_BYTES)
            file.seek(_LOG_KEPT_BYTES)
            file.write(b"\n[... the middle of the output was dropped ...]\n" + tail)
            file.truncate()


def _read_result(
    result: Path, result_type: type[ResultT], child: ForkServerProcess, log: Path
) -> ResultT | Failure:
    if not result.exists():
        return Failure("killed", _exit_words(child.exitcode, log))
    text = result.read_text(encoding="utf-8")
    if child.exitcode == 0:
        return result_type.model_validate_json(text)
    error = ChildError.model_validate_json(text)
    cause = "out of memory" if error.out_of_memory else "raised"
    return Failure(cause, error.message, error.input_error)


def _exit_words(exit_code: int | None, log: Path) -> str:
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        hint = ", often the system's out-of-memory killer" if name == "SIGKILL" else ""
        return f"the process was ended by {name}{hint}; its output is in {log}"
    return f"the process left with exit code {exit_code} and no result; its output is in {log}"
