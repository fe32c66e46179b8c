"""The job behind `halfwise check`, `ops` and `price`: compile a workload's step under a policy, run nothing."""

import pandas as pd

from ..policies.errors import InputError
from ..policies.text import parse_policy
from .device import use_device
from .inspection_result import OPS_TABLE, BoundaryCost, Inspection, InspectionRequest, Pricing
from .prepared import prepare
from .price import cast_report, describe, price_memory, price_table
from .proven_step import compile_error, compile_proven
from .workload import Workload
from .workload_reference import load_workload


def inspect(request: InspectionRequest) -> Inspection:
    """Evidence, and the price if a device is named, of the workload's step under the policy.

    The op table is left in the request's folder as `ops.json`, one object a row.

    Raises:
        InputError: workload or policy are wrong, or MindSpore cannot compile the step.
    """
    use_device(request.target, "graph")
    workload = load_workload(request.workload, request.search_path)
    if request.batch_size is not None:
        _resize(workload, request.batch_size)
    policy = parse_policy(request.policy)
    prepared = prepare(workload, policy, seed=0)
    try:
        proven = compile_proven(prepared, workload, policy, request.folder)
    except (RuntimeError, TypeError, ValueError) as error:
        words = compile_error(error, request.folder)
        raise InputError(f"MindSpore cannot compile {workload.name} under this policy: {words}") from error
    proven.table.to_json(request.folder / OPS_TABLE, orient="records")
    return Inspection(
        workload=workload.name,
        evidence=proven.evidence,
        pricing=_price(proven.table, workload.batch_size, request),
    )


def _resize(workload: Workload, batch_size: int) -> None:
    workload.batch_size = batch_size
    found = workload.sample_batch().size
    if found != batch_size:
        raise InputError(
            f"{workload.name} cannot be priced at batch size {batch_size}: its batches hold {found} samples "
            "whatever its `batch_size` says"
        )


def _price(table: pd.DataFrame, batch_size: int, request: InspectionRequest) -> Pricing | None:
    device = request.price_for
    if device is None:
        return None
    price, memory = price_table(table, device), price_memory(table)
    return Pricing(
        device=device.name,
        batch_size=batch_size,
        step_time_s=price.step_time_s,
        flops_share=dict(price.flops_share),
        casts=price.casts.count,
        cast_share=price.casts.share,
        memory_bytes=memory.total_bytes,
        by_bytes_only=price.by_bytes_only,
        assumptions=price.assumptions,
        lines=describe(price, batch_size, memory=memory, device=device),
        boundaries=tuple(
            BoundaryCost(
                producer=b.producer, consumer=b.consumer, casts=b.casts, share=b.share, saves_s=b.merging_saves_s
            )
            for b in cast_report(table, device)
        ),
    )
