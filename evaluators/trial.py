"""The job of a trial's process: build, apply the policy, compile, prove, train, evaluate."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pandas as pd
from mindspore import nn

from ..policies.resolve import Assignment
from ..policies.text import parse_policy
from .device import peak_memory_bytes, use_device
from .outcome import Outcome, Place, PricedStep
from .prepared import Prepared, prepare
from .price import price_memory, price_table
from .proven_step import compile_error, compile_proven
from .request import NOT_APPLIED, OPS_FILE, SAME_TRAINING, STATE_FILE, TrialRequest
from .step import Predict
from .training import Training, train
from .workload import Workload
from .workload_reference import load_workload


def run_trial(request: TrialRequest) -> Outcome:
    """Train the policy shortly and measure it; what does not train is an outcome too.

    Raises:
        InputError: the policy does not fit the network, or the workload is wrong.
        Exception: whatever the workload raises; the caller's process makes an outcome of it.
    """
    started = time.perf_counter()
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode)
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, policy, request.seed)
    known = request.identity(workload.metric, ms.__version__) | _asked(prepared.assignments)
    try:
        proven = compile_proven(prepared, workload, policy, request.folder)
    except (RuntimeError, TypeError, ValueError) as error:
        return Outcome(
            **known, status="infeasible", cause="does not compile", message=compile_error(error, request.folder)
        )
    proven.table.to_csv(request.folder / OPS_FILE, index=False)
    known |= {"evidence": proven.evidence, "priced": _price(proven.table, workload.batch_size, request)}
    if policy.mode == "graph":
        known["compile_time_s"] = proven.compile_time_s
    if proven.evidence.mismatches:
        return Outcome(**known, status="failed", cause=NOT_APPLIED, message="; ".join(proven.evidence.mismatches))
    if proven.evidence.training_key(policy) in request.trained:
        return Outcome(**known, status="failed", cause=SAME_TRAINING)
    training = train(prepared.step, workload.batches(request.seed), request.steps)
    known |= _figures(training, workload.batch_size, request)
    known |= _judge(training, prepared, workload, request.folder)
    return Outcome(**known, trial_time_s=time.perf_counter() - started)


def _price(table: pd.DataFrame, batch_size: int, request: TrialRequest) -> PricedStep | None:
    if request.price_for is None:
        return None
    price = price_table(table, request.price_for)
    return PricedStep(
        device=price.device,
        step_time_s=price.step_time_s,
        throughput_samples_per_s=price.throughput_samples_per_s(batch_size),
        casts=price.casts.count,
        cast_share=price.casts.share,
        memory_bytes=price_memory(table).total_bytes,
        assumptions=price.assumptions,
    )


def _asked(assignments: tuple[Assignment, ...]) -> dict[str, Any]:
    """How many of the innermost layers were asked for in low precision; a request, not a measurement."""
    paths = [assignment.path for assignment in assignments]
    inner = [a for a in assignments if not any(other.startswith(f"{a.path}.") for other in paths) and a.path]
    low = [a for a in inner if a.precision in ("float16", "bfloat16")]
    return {"layers": len(inner), "low_precision_layers": len(low)}


def _figures(training: Training, batch_size: int, request: TrialRequest) -> dict[str, Any]:
    step_time = training.step_time()
    done = training.applied + training.skipped
    return {
        "losses": tuple(loss if math.isfinite(loss) else None for loss in training.losses),
        "loss_scales": tuple(training.loss_scales),
        "updates_applied": training.applied,
        "updates_skipped": training.skipped,
        "step_time": step_time,
        # A skipped step costs its time and trains nothing: only applied updates count.
        "throughput_samples_per_s": step_time and batch_size * training.applied / done / step_time.wall_s,
        "peak_memory_bytes": peak_memory_bytes(request.target),
    }


def _judge(training: Training, prepared: Prepared, workload: Workload, folder: Path) -> dict[str, Any]:
    """Status, cause and quality; the weights of a step that went wrong are kept for the diagnosis."""
    if training.cause is not None:
        place = None
        if training.first_bad_step is not None:
            place = Place(step=training.first_bad_step)
            ms.save_checkpoint(prepared.network, str(folder / STATE_FILE))
        return {"status": "infeasible", "cause": training.cause, "first_non_finite": place}
    quality = float(workload.evaluate(predictor(prepared.network)))
    if not math.isfinite(quality):
        return {"status": "infeasible", "cause": f"{workload.metric.name} is {quality}"}
    return {"status": "trained", "quality": quality}


def predictor(network: nn.Cell) -> Callable[..., Any]:
    """`predict(*arrays)` for a workload's `evaluate`: evaluation mode, NumPy in and out, floats in float32."""
    cell = Predict(network)
    cell.set_train(False)

    def predict(*inputs: np.ndarray) -> Any:
        return _as_arrays(cell(*(ms.Tensor(array) for array in inputs)))

    return predict


def _as_arrays(outputs: Any) -> Any:
    if isinstance(outputs, dict):
        return {key: _as_arrays(value) for key, value in outputs.items()}
    if isinstance(outputs, (tuple, list)):
        return tuple(_as_arrays(value) for value in outputs)
    return outputs.asnumpy()
