"""The one place where a device name reaches MindSpore; runs in trial processes only.

Verified on CPU only: GPU and Ascend go through the same calls, held by contract tests.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import get_args

import mindspore as ms

from ..policies import Mode
from ..policies.errors import HalfwiseError, InputError
from .device_names import Target

COMPILE_CACHE_VARIABLE = "MS_COMPILER_CACHE_ENABLE"

MODES = {"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}


def use_device(target: Target, mode: Mode, device_id: int | None = None) -> None:
    """Make this process compute on the device, in the mode that a policy names, without a compile cache.

    `device_id` is which of several devices, None for the first.

    Raises:
        InputError: the name is none of CPU, GPU, Ascend.
        HalfwiseError: MindSpore has no such device here; its own message is quoted.
    """
    if target not in get_args(Target):
        raise InputError(f"device {target!r} is unknown; choose one of auto, {', '.join(get_args(Target))}")
    try:
        ms.set_device(target, device_id)
    except (RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise HalfwiseError(f"MindSpore {ms.__version__} cannot use {target} here: {reason}") from error
    ms.set_context(mode=MODES[mode])
    # MindSpore's compile cache knows nothing of precisions: it takes the graph of one policy for another one's,
    # and leaves no graph to prove. Whoever has it on for their own training must not get it here.
    os.environ[COMPILE_CACHE_VARIABLE] = "0"


def in_graph_mode() -> AbstractContextManager[None]:
    """While this is open, Cells are compiled; afterwards the process is in the mode that it was in."""
    return in_mode(ms.GRAPH_MODE)


@contextmanager
def in_mode(mode: int) -> Iterator[None]:
    """While this is open, the process is in one of MindSpore's modes; afterwards in the one that it was in."""
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        yield
    finally:
        ms.set_context(mode=before)


def peak_memory_bytes(target: Target) -> int:
    """The most memory that this process held: resident memory on a CPU, the device's own figure elsewhere."""
    if target == "CPU":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(ms.runtime.max_memory_allocated())
