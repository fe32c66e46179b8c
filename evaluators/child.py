"""What runs in a trial's process before its job: an environment and an output file of its own."""

import contextlib
import gc
import importlib
import os
import shutil
import sys
import traceback
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from pydantic import BaseModel

from ..policies.errors import HalfwiseError, InputError
from ..policies.whole_file import NO_SPACE, NotWritten
from .json_file import write_json
from .request import Request
from .watcher import watch_over

DISK_FULL_EXIT = 228
"""The exit code of a job that could not even write down that there was no space left."""

# How MindSpore's allocators word it (CPU, Ascend, GPU).
_OUT_OF_MEMORY_WORDS = ("memory not enough", "out of memory", "alloc memory failed", "allocate memory failed")
_DISK_FULL_WORDS = "no space left on device"
# With less than this, MindSpore's own writers fail in ways of their own.
_LEAST_FREE_BYTES = 64 << 10


class ChildError(BaseModel):
    """An exception that ended a job, as data."""

    message: str
    out_of_memory: bool
    input_error: bool
    disk_full: bool


def enter(far: Connection, job: str, request: Request, log: Path, result: Path) -> None:
    """Run the job `module:function` on the request, watched over; leave its result, or its error, in a file.

    `far` is this end of the lifeline that the caller holds.
    """
    # MindSpore collects garbage at every compile: what the fork server has loaded need not be looked at each time.
    gc.freeze()
    watch_over(partial(_run, job, request, log, result), far)


def error_line(error: BaseException) -> str:
    """An exception in one line: what it says, or its kind and the first line of what MindSpore says."""
    if isinstance(error, HalfwiseError):
        return str(error)
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "no message")
    return f"{type(error).__name__}: {first}"


def _run(job: str, request: Request, log: Path, result: Path) -> NoReturn:
    try:
        _redirect_output(log)
        # MindSpore and workloads write into the working folder, which may be read-only or shared.
        os.chdir(request.folder)
        os.environ.update(request.environment)
        module, function = job.split(":")
        outcome = getattr(importlib.import_module(module), function)(request)
        write_json(outcome, result)
    except Exception as error:
        # On a disk without space the output cannot grow either.
        with contextlib.suppress(OSError):
            traceback.print_exc()
        _leave(_write_error(_describe(error, request.folder), result))
    _leave(0)


def _write_error(error: ChildError, result: Path) -> int:
    """The exit code to leave with."""
    try:
        write_json(error, result)
    except NotWritten as refused:
        return DISK_FULL_EXIT if error.disk_full or refused.disk_full else 1
    return 1


def _redirect_output(log: Path) -> None:
    # What cannot be kept does not go to the terminal of the search either.
    _send_output_to(os.open(os.devnull, os.O_WRONLY))
    _send_output_to(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644))


def _send_output_to(file: int) -> None:
    # By file descriptor: MindSpore's C++ side writes to descriptor 2 directly.
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def _describe(error: Exception, folder: Path) -> ChildError:
    text = str(error).lower()
    return ChildError(
        message=error_line(error),
        out_of_memory=isinstance(error, MemoryError) or any(words in text for words in _OUT_OF_MEMORY_WORDS),
        input_error=isinstance(error, InputError),
        disk_full=_is_disk_full(error, folder),
    )


def _is_disk_full(error: Exception, folder: Path) -> bool:
    """Whether a full disk is behind an error: by its number, its words, or because the folder's disk is full."""
    if isinstance(error, NotWritten):
        return error.disk_full
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return True
    return _DISK_FULL_WORDS in str(error).lower() or _free_bytes(folder) < _LEAST_FREE_BYTES


def _free_bytes(folder: Path) -> float:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return float("inf")


def _leave(code: int) -> NoReturn:
    # A disk without space takes no more output; the result says so already.
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Not sys.exit: MindSpore's own teardown can hang or crash after the result is safe.
    os._exit(code)
