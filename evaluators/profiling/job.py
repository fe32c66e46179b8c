"""The job of a profile's process: compile, prove, train under MindSpore's profiler, and read what it wrote."""

import itertools
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mindspore as ms
from mindspore import profiler

from ...policies.errors import HalfwiseError, InputError
from ...policies.rewrite import read_outline
from ...policies.text import parse_policy
from ..compile_failure import DoesNotCompile
from ..device import use_device
from ..device_names import Target
from ..evidence import prove, read_kernel_table, read_op_table
from ..prepared import Prepared, prepare
from ..price import price_table
from ..proven_step import compiled_dump, summarised
from ..training import WARM_UP_STEPS, as_tensors
from ..workload import Workload
from ..workload_reference import load_workload
from .kernel_times import kernel_times_s
from .result import Profile, ProfileRequest
from .shares import float32_ops, measured, parts_of_step

_ACTIVITIES = {
    "CPU": [profiler.ProfilerActivity.CPU],
    "GPU": [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.GPU],
    "Ascend": [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
}


def profile(request: ProfileRequest) -> Profile:
    """Where the time of a training step goes, kernel by kernel; a few steps before are not counted.

    Raises:
        InputError: workload or policy are wrong, the policy is for PyNative mode, which knows no compiled kernels,
            or MindSpore cannot compile the step.
        HalfwiseError: the profiler wrote nothing that can be read, or no kernel of the compiled step.
    """
    policy = parse_policy(request.policy)
    if policy.mode != "graph":
        raise InputError("a profile needs the compiled step: the policy says `mode: pynative`, set it to graph")
    use_device(request.target, policy.mode, request.device_id)
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, policy, seed=0)
    try:
        with compiled_dump(prepared, workload, request.folder) as (dump, _):
            ops, kernels = read_op_table(dump, read_outline(prepared.network)), read_kernel_table(dump)
    except DoesNotCompile as error:
        raise InputError(f"MindSpore cannot compile {workload.name} under this policy: {error}") from error
    walls, skipped = _train(prepared, workload, request)
    seconds = {
        name: total / request.steps
        for name, total in kernel_times_s(request.folder / "profiler", request.target).items()
    }
    told_s, all_s = float(measured(kernels, seconds).sum()), sum(seconds.values())
    if not told_s:
        raise HalfwiseError("MindSpore's profiler names no kernel of the compiled step: nothing can be told")
    return Profile(
        workload=workload.name,
        target=request.target,
        steps=request.steps,
        skipped=skipped,
        step_s=statistics.median(walls),
        kernels_s=all_s,
        untold_s=max(all_s - told_s, 0.0),
        parts=parts_of_step(kernels, ops, seconds, request.price_for),
        float32_ops=float32_ops(kernels, ops, seconds, request.price_for),
        priced_for=request.price_for.name,
        priced_step_s=price_table(ops, request.price_for).step_time_s,
        evidence=summarised(ops, prove(ops, prepared.assignments, policy)),
    )


def _train(prepared: Prepared, workload: Workload, request: ProfileRequest) -> tuple[list[float], int]:
    """Seconds of each profiled step, and how many of them were skipped."""
    batches = map(as_tensors, workload.batches(seed=0))
    for batch in itertools.islice(batches, WARM_UP_STEPS):
        _run(prepared, batch)
    walls, skipped = [], 0
    with _profiled(request.folder / "profiler", request.target):
        for batch in itertools.islice(batches, request.steps):
            started = time.perf_counter()
            skipped += not _run(prepared, batch)
            walls.append(time.perf_counter() - started)
    return walls, skipped


def _run(prepared: Prepared, batch: list[ms.Tensor]) -> bool:
    """One step; whether it was applied. Reading that waits for the step: a device may only have queued it."""
    _, finite, _ = prepared.step(*batch)
    return bool(finite.asnumpy().item())


@contextmanager
def _profiled(folder: Path, target: Target) -> Iterator[None]:
    """While this is open, MindSpore times its kernels; what it found lies in `folder` afterwards."""
    watch = profiler.profile(
        activities=_ACTIVITIES[target],
        on_trace_ready=profiler.tensorboard_trace_handler(str(folder)),
        start_profile=False,
    )
    watch.start()
    try:
        yield
    finally:
        watch.stop()
