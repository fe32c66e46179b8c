"""The job behind `halfwise check`, `ops` and `price`: compile a workload's step under a policy, train nothing."""

import pandas as pd

from ..policies.errors import InputError
from ..policies.policy import Policy
from ..policies.text import parse_policy
from .calibration.host import refuse_other_host
from .compile_failure import DoesNotCompile
from .device import use_device
from .eager_step import checked, partial, watch_forward
from .inspection_result import OPS_TABLE, BoundaryCost, Inspection, InspectionRequest, Pricing
from .kernel_step import compile_kernels
from .prepared import Prepared, prepare
from .price import Boundary, Device, Price, cast_report, describe, gradient_sum, price_memory, price_table
from .proven_step import ProvenStep, compile_proven
from .training import as_tensors
from .workload import Workload
from .workload_reference import load_workload


def inspect(request: InspectionRequest) -> Inspection:
    """Evidence, and the price if a device is named, of the workload's step under the policy.

    The step is compiled and not run; a policy for PyNative mode that is not priced has its forward pass run once
    besides, to see what the Cells give. Where graph mode cannot compile it, that is all the evidence. The op table
    is left in the request's folder as `ops.json`, one object a row.

    Raises:
        InputError: workload or policy are wrong, or MindSpore cannot compile the step and a price, or graph mode,
            is asked for.
    """
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode, request.device_id)
    workload = load_workload(request.workload, request.search_path)
    if request.batch_size is not None:
        _resize(workload, request.batch_size)
    proven = _prove(prepare(workload, policy, seed=0), workload, policy, request)
    proven.table.to_json(request.folder / OPS_TABLE, orient="records")
    return Inspection(
        workload=workload.name,
        evidence=proven.evidence,
        pricing=_price(proven.table, workload, policy, request),
    )


def _prove(prepared: Prepared, workload: Workload, policy: Policy, request: InspectionRequest) -> ProvenStep:
    try:
        proven = compile_proven(prepared, workload, policy, request.folder)
    except DoesNotCompile as error:
        words = f"MindSpore cannot compile {workload.name} under this policy: {error}"
        if request.price_for is not None:
            raise InputError(f"{words}; without a compiled step there is no price") from error
        if policy.mode == "graph":
            raise InputError(f"{words}; a policy of `mode: pynative` needs no graph") from error
        return partial(prepared, policy, error)(watch_forward(prepared, workload))
    if policy.mode == "graph" or request.price_for is not None:
        return proven
    return checked(proven)(watch_forward(prepared, workload))


def _resize(workload: Workload, batch_size: int) -> None:
    workload.batch_size = batch_size
    found = workload.sample_batch().size
    if found != batch_size:
        raise InputError(
            f"{workload.name} cannot be priced at batch size {batch_size}: its batches hold {found} samples "
            "whatever its `batch_size` says"
        )


def _price(table: pd.DataFrame, workload: Workload, policy: Policy, request: InspectionRequest) -> Pricing | None:
    device = request.price_for
    if device is None:
        return None
    alone, boundaries = _priced(table, device, workload, policy, request)
    memory = price_memory(table)
    summed = gradient_sum(memory, device, request.devices)
    price = alone.with_seconds(summed.seconds)
    return Pricing(
        device=device.name,
        stage=price.stage,
        batch_size=workload.batch_size,
        devices=summed.devices,
        step_time_s=price.step_time_s,
        gradient_sum_s=summed.seconds,
        gradient_bytes_sent=summed.bytes_sent,
        flops_share=dict(price.flops_share),
        casts=price.casts.count,
        cast_share=price.casts.share,
        memory_bytes=memory.total_bytes,
        by_bytes_only=price.by_bytes_only,
        assumptions=(*price.assumptions, *summed.assumptions),
        lines=describe(price, workload.batch_size, memory=memory, device=device, summed=summed),
        boundaries=tuple(
            BoundaryCost(
                producer=b.producer,
                consumer=b.consumer,
                casts=b.casts,
                share=b.share * alone.step_time_s / price.step_time_s,
                saves_s=b.merging_saves_s,
            )
            for b in boundaries
        ),
    )


def _priced(
    table: pd.DataFrame, device: Device, workload: Workload, policy: Policy, request: InspectionRequest
) -> tuple[Price, tuple[Boundary, ...]]:
    """The price of the asked stage, or on a calibrated device of the kernel stage, whose casts know no layers."""
    if device.timings is None:
        return price_table(table, device), cast_report(table, device)
    refuse_other_host(device, request.target)
    # A fresh network: one that is compiled already would not be compiled, and written down, again.
    step = prepare(workload, policy, seed=0).step
    kernels = compile_kernels(step, as_tensors(workload.sample_batch()), request.folder)
    return price_table(kernels, device, "kernel"), ()
