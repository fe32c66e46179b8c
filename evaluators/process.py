"""Runs one job in one fresh process and turns whatever happens to it into a value.

MindSpore's precision state leaks between trainings of one process, so no process trains twice. A forkserver
that has imported mindspore and the trial's own modules, and touched nothing else, starts each under a watcher of
its own in less than a tenth of a second (a new interpreter takes over one); the caller never runs a MindSpore op.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from pydantic import BaseModel

from ..policies.errors import HalfwiseError, InputError
from ..policies.whole_file import NotWritten
from .child import DISK_FULL_EXIT, ChildError, enter
from .request import Request
from .resident_memory import ResidentMemory
from .watcher import STOPPING, Lifeline

ResultT = TypeVar("ResultT", bound=BaseModel)

# Imported once in the forkserver, so that no child pays for it; many workloads load their data with scikit-learn.
_PRELOADED = ("mindspore", "halfwise.evaluators.trial", "sklearn.datasets")
_POLL_S = 0.05
_PAUSES_S = (0.05, 0.5, 2.0)
# A watcher ends what its job started within milliseconds, unless something hangs in the system.
_ENDING_S = 10.0
_LOG, _RESULT = "output.log", "result.json"
_LOG_LIMIT_BYTES = 4 << 20
_LOG_KEPT_BYTES = 256 << 10

DISK_FULL = "disk full"
FOLDER_GONE = "folder gone"


@dataclass(frozen=True)
class Limits:
    """When a job is ended: seconds of wall time, and resident bytes of it and of all that it started."""

    time_s: float
    memory_bytes: int


@dataclass(frozen=True)
class Failure:
    """Why a job gave no result: a short cause, what there is to say, and whether its input was at fault.

    `exit_code` is that of a process that left without a word, negative for the signal that ended it.
    """

    cause: str
    message: str
    input_error: bool = False
    exit_code: int | None = None

    @property
    def is_of_the_disk(self) -> bool:
        """Whether the job had no place to write to: any other job would have failed there too."""
        return self.cause in (DISK_FULL, FOLDER_GONE)

    @property
    def is_from_outside(self) -> bool:
        """Whether the job was cut short by something that is no answer to what it tried."""
        ended = self.exit_code == -signal.SIGKILL or self.cause in ("time limit", "out of memory")
        return ended or self.is_of_the_disk

    def as_error(self) -> HalfwiseError:
        """The failure as an exception, for jobs that the caller cannot do without."""
        kind = InputError if self.input_error else HalfwiseError
        return kind(self.message if self.cause == "raised" else f"{self.cause}: {self.message}")


@dataclass(frozen=True)
class RunningJob(Generic[ResultT]):
    """A job whose process has been started; `result` waits for it."""

    watcher: ForkServerProcess
    lifeline: Lifeline
    request: Request
    result_type: type[ResultT]
    limits: Limits

    def result(self) -> ResultT | Failure:
        """What the job returned, or why it returned nothing; whatever it started is ended then."""
        log = self.request.folder / _LOG
        try:
            ended = _wait(self.watcher, log, self.limits)
        finally:
            self._await_end()
        _bound(log)
        return ended or _read_result(self.request.folder, self.result_type, self.watcher.exitcode)

    def end(self) -> None:
        """End the process and whatever it started; `result` then says that it was killed."""
        self.lifeline.cut()

    def _await_end(self) -> None:
        self.lifeline.cut()
        self.watcher.join(_ENDING_S)
        if self.watcher.exitcode is None:
            self.watcher.kill()
            self.watcher.join()


def start_job(job: str, request: Request, result_type: type[ResultT], limits: Limits) -> RunningJob[ResultT]:
    """Start a job in a fresh process.

    `job` is `module:function`: a function of one request that returns a `result_type`. It is named rather
    than handed over, so that this process need not import mindspore. Standard output and error of the job
    go to `output.log` in the request's folder; beyond 4 MiB its middle is dropped. The result is written
    aside and renamed, so a killed job leaves no half of it. Should this process be killed, the job ends.

    Raises:
        HalfwiseError: the working folder is gone, the request's folder cannot be written to, or no process can be
            started.
    """
    log, result = request.folder / _LOG, request.folder / _RESULT
    try:
        request.folder.mkdir(parents=True, exist_ok=True)
        for old in (log, result):
            old.unlink(missing_ok=True)
    except OSError as error:
        raise NotWritten(request.folder, error) from error
    watcher, lifeline = _start(job, request)
    return RunningJob(watcher, lifeline, request, result_type, limits)


def run_job(job: str, request: Request, result_type: type[ResultT], limits: Limits) -> ResultT | Failure:
    """Start a job and wait for it: its result, or why there is none; never raises for what happens in it."""
    return start_job(job, request, result_type, limits).result()


def _start(job: str, request: Request) -> tuple[ForkServerProcess, Lifeline]:
    for pause_s in _PAUSES_S:
        lifeline = Lifeline()
        try:
            return _start_watcher(lifeline, job, request), lifeline
        except (EOFError, ConnectionError):
            # The fork server was killed just then: another one is started, once this one is seen to be over.
            lifeline.cut()
            time.sleep(pause_s)
        finally:
            lifeline.far.close()
    raise HalfwiseError("no process can be started: the one that starts them is killed each time")


def _start_watcher(lifeline: Lifeline, job: str, request: Request) -> ForkServerProcess:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    arguments = (lifeline.far, job, request, request.folder / _LOG, request.folder / _RESULT)
    watcher = context.Process(target=enter, args=arguments, daemon=False)
    try:
        with _without_main_module():
            _start_server()
            watcher.start()
    except FileNotFoundError as error:
        raise HalfwiseError(
            "the working folder no longer exists, and no process can be started from there: change to another one"
        ) from error
    return watcher


def _start_server() -> None:
    # What is blocked here stays so in the fork server and in watchers: a signal to the whole group of processes is
    # heard by this one, which still has to be told how its jobs ended.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


def _wait(watcher: ForkServerProcess, log: Path, limits: Limits) -> Failure | None:
    deadline = time.monotonic() + limits.time_s
    memory = ResidentMemory(watcher.pid or 0)
    while True:
        watcher.join(_POLL_S)
        if watcher.exitcode is not None:
            return None
        if time.monotonic() > deadline:
            return Failure("time limit", f"still running after {limits.time_s:g} s")
        held = memory.beyond(limits.memory_bytes)
        if held is not None:
            return Failure(
                "out of memory",
                f"held {held / 2**30:.2f} GiB, over the limit of {limits.memory_bytes / 2**30:.2f} GiB",
            )
        _bound(log)


def _bound(log: Path) -> None:
    # The job appends, so after a cut its next line lands at the new end.
    with contextlib.suppress(OSError):
        if log.stat().st_size <= _LOG_LIMIT_BYTES:
            return
        with log.open("r+b") as file:
            file.seek(-_LOG_KEPT_BYTES, os.SEEK_END)
            tail = file.read(_LOG_KEPT_BYTES)
            file.seek(_LOG_KEPT_BYTES)
            file.write(b"\n[... the middle of the output was dropped ...]\n" + tail)
            file.truncate()


def _read_result(folder: Path, result_type: type[ResultT], exit_code: int | None) -> ResultT | Failure:
    if not (folder / _RESULT).exists():
        return _no_result(folder, exit_code)
    text = (folder / _RESULT).read_text(encoding="utf-8")
    if exit_code == 0:
        return result_type.model_validate_json(text)
    error = ChildError.model_validate_json(text)
    if error.disk_full:
        return Failure(DISK_FULL, f"{error.message} (in {folder})")
    return Failure("out of memory" if error.out_of_memory else "raised", error.message, error.input_error)


def _no_result(folder: Path, exit_code: int | None) -> Failure:
    if not folder.is_dir():
        return Failure(FOLDER_GONE, f"{folder} was deleted or moved while a process was at work there")
    if exit_code == DISK_FULL_EXIT:
        return Failure(DISK_FULL, f"a process had no space left to write its result to {folder}")
    return Failure("killed", _exit_words(exit_code, folder / _LOG), exit_code=exit_code)


def _exit_words(exit_code: int | None, log: Path) -> str:
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        hint = ", often the system's out-of-memory killer" if name == "SIGKILL" else ""
        return f"the process was ended by {name}{hint}; its output is in {log}"
    return f"the process left with exit code {exit_code} and no result; its output is in {log}"
