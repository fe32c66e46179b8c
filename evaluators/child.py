"""What runs first in a trial's process: a session, an environment and an output file of its own."""

import gc
import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from pydantic import BaseModel

from ..policies.errors import HalfwiseError, InputError
from .json_file import write_json
from .request import Request

# How MindSpore's allocators word it (CPU, Ascend, GPU).
_OUT_OF_MEMORY_WORDS = ("memory not enough", "out of memory", "alloc memory failed", "allocate memory failed")


class ChildError(BaseModel):
    """An exception that ended a job, as data."""

    message: str
    out_of_memory: bool
    input_error: bool


def enter(job: str, request: Request, log: Path, result: Path) -> None:
    """Run the job `module:function` on the request; leave its result, or its error, in the result file."""
    os.setsid()
    # MindSpore collects garbage at every compile: what the fork server has loaded need not be looked at each time.
    gc.freeze()
    _redirect_output(log)
    # MindSpore and workloads write into the working folder, which may be read-only or shared.
    os.chdir(request.folder)
    os.environ.update(request.environment)
    module, function = job.split(":")
    try:
        outcome = getattr(importlib.import_module(module), function)(request)
    except Exception as error:
        traceback.print_exc()
        write_json(_describe(error), result)
        _leave(1)
    write_json(outcome, result)
    _leave(0)


def error_line(error: BaseException) -> str:
    """An exception in one line: what it says, or its kind and the first line of what MindSpore says."""
    if isinstance(error, HalfwiseError):
        return str(error)
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "no message")
    return f"{type(error).__name__}: {first}"


def _redirect_output(log: Path) -> None:
    # By file descriptor: MindSpore's C++ side writes to descriptor 2 directly.
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def _describe(error: Exception) -> ChildError:
    text = str(error).lower()
    return ChildError(
        message=error_line(error),
        out_of_memory=isinstance(error, MemoryError) or any(words in text for words in _OUT_OF_MEMORY_WORDS),
        input_error=isinstance(error, InputError),
    )


def _leave(code: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: MindSpore's own teardown can hang or crash after the result is safe.
    os._exit(code)
