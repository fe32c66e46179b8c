"""The job behind `halfwise sensitivity`: a float32 run that is looked into, then each group alone low."""

import shutil
import time
from pathlib import Path

from ...policies import DynamicLossScaling, LossScaling, Policy, StaticLossScaling
from ...policies.precision import FORMATS
from ..compile_failure import DoesNotCompile
from ..device import use_device
from ..prepared import Prepared, prepare
from ..value_dump import dump_everything
from ..workload import Workload
from ..workload_reference import load_workload
from .collect import Collected, collect, collected_steps
from .group_trials import GroupTrials
from .result import Sensitivity, SensitivityRequest


def run_sensitivity(request: SensitivityRequest) -> Sensitivity:
    """Statistics of a float32 run, and what one step moves with each group alone in low precision.

    Of a network that only PyNative mode can run there are no statistics, and the passes start from fresh weights.
    Nothing of the dumped values is left in the request's folder.

    Raises:
        InputError: the workload is wrong, or a group names no layer.
        HalfwiseError: loss or gradient are not finite in float32.
    """
    dump = request.folder / "values"
    try:
        dump_everything(dump, collected_steps(request.steps), inputs=True)
        use_device(request.target, "graph", request.device_id)
        workload = load_workload(request.workload, request.search_path)
        policy = Policy(default="float32", loss_scaling=request.loss_scaling)
        prepared = prepare(workload, policy, request.seed)
        started = time.monotonic()
        collected = _collect(prepared, workload, request, dump)
        collected.loss_scale = _workable(request.loss_scaling, collected.largest_gradient())
    finally:
        # Every value of a step: too large to be left behind, whatever came of it.
        shutil.rmtree(dump, ignore_errors=True)
    float32_time_s = time.monotonic() - started
    alone = GroupTrials(request, collected, time.monotonic())
    alone.run(prepared, workload)
    return Sensitivity(
        workload=workload.name,
        device=request.target,
        seed=request.seed,
        collected_steps=collected.steps,
        loss_scale=collected.loss_scale,
        groups=tuple(alone.groups[group.name] for group in request.groups),
        parts=tuple(alone.parts),
        steps_run=collected.run + alone.passes,
        float32_time_s=float32_time_s,
        alone_time_s=time.monotonic() - alone.started_s,
        notes=(*_unseen(collected), *alone.notes),
    )


def _collect(prepared: Prepared, workload: Workload, request: SensitivityRequest, dump: Path) -> Collected:
    try:
        return collect(prepared, workload, request.seed, request.steps, dump)
    except DoesNotCompile as error:
        return Collected((), refusal=str(error))


def _workable(scaling: LossScaling, largest_gradient: float) -> float:
    """The scale in use: a dynamic one sinks until the largest gradient fits into float16."""
    if isinstance(scaling, StaticLossScaling):
        return scaling.scale
    if not isinstance(scaling, DynamicLossScaling):
        return 1.0
    scale = scaling.initial
    while scale > 1 and largest_gradient * scale > FORMATS["float16"].max:
        scale = max(scale / scaling.factor, 1.0)
    return scale


def _unseen(collected: Collected) -> tuple[str, ...]:
    if collected.refusal is not None:
        return (f"no values were collected, graph mode cannot compile the step: {collected.refusal}",)
    return (f"the values of {collected.unseen} ops could not be told apart",) if collected.unseen else ()
