"""The job of a trial's process: build, apply the policy, compile, prove, train, evaluate."""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pandas as pd
from mindspore import nn

from ..policies.errors import HalfwiseError
from ..policies.policy import Policy
from ..policies.resolve import Assignment
from ..policies.text import parse_policy
from ..policies.whole_file import written_aside
from .compile_failure import DoesNotCompile
from .device import peak_memory_bytes, use_device
from .dirty_data import first_dirty
from .eager_step import Judge, WatchedStep, checked, partial
from .evidence import SeenCall
from .float32 import is_float32
from .loss_band import BandWatch, LossBand
from .outcome import Outcome, Place, PricedStep
from .prepared import Prepared, prepare
from .price import price_memory, price_table
from .proven_step import ProvenStep, compile_proven
from .quality import NoQuality, quality_of
from .request import END_FILE, NOT_APPLIED, OPS_FILE, SAME_TRAINING, STATE_FILE, TrialRequest
from .saved_state import load_state, save_state
from .step import Predict
from .training import Training, train
from .workload import Batch, Workload
from .workload_reference import load_workload


class NotApplied(HalfwiseError):
    """The policy did not become what it asks; the message names the ops or layers."""


class TooLarge(HalfwiseError):
    """The step needs more memory than it may; the message is the cause."""


def run_trial(request: TrialRequest) -> Outcome:
    """Train the policy shortly and measure it; what does not train is an outcome too.

    Raises:
        InputError: the policy does not fit the network, or the workload is wrong.
        Exception: whatever the workload raises; the caller's process makes an outcome of it.
    """
    started = time.perf_counter()
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode, request.device_id)
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, policy, request.seed)
    if request.goes_on_from is not None:
        load_state(prepared, request.folder / END_FILE)
    known = request.identity(workload.metric, ms.__version__) | _asked(prepared.assignments)
    try:
        judge = _prove(prepared, workload, policy, request, known)
        if judge is None:
            return Outcome(**known, status="failed", cause=SAME_TRAINING)
        step = _watched(prepared, policy, request, known, judge)
        training = train(step, _batches(workload, request), request.steps, _before(request))
    except DoesNotCompile as error:
        return Outcome(**known, status="infeasible", cause="does not compile", message=str(error))
    except NotApplied as error:
        return Outcome(**known, status="failed", cause=NOT_APPLIED, message=str(error))
    except TooLarge as error:
        return Outcome(**known, status="infeasible", cause=str(error))
    known |= _figures(training, workload.batch_size, request)
    if request.keep_state and training.cause is None:
        save_state(prepared, request.folder / END_FILE)
    known |= _judge(training, prepared, workload, request)
    known |= _bounded(known, request)
    return Outcome(**known, trial_time_s=time.perf_counter() - started)


def _batches(workload: Workload, request: TrialRequest) -> Iterator[Batch]:
    """The batches that were not trained on yet."""
    done = request.goes_on_from.steps if request.goes_on_from else 0
    return itertools.islice(workload.batches(request.seed), done, None)


def _before(request: TrialRequest) -> Training:
    """What happened before the first batch; float32 itself is never watched."""
    watched = not is_float32(parse_policy(request.policy))
    watch = BandWatch(LossBand(request.float32_losses if watched else ()))
    return Training.going_on(request.goes_on_from, watch) if request.goes_on_from else Training(watch=watch)


def _prove(
    prepared: Prepared, workload: Workload, policy: Policy, request: TrialRequest, known: dict[str, Any]
) -> Judge | None:
    """Compile and prove the step; who judges what its Cells give in PyNative mode. None if it was trained before.

    Where graph mode cannot compile it and PyNative need not, what the Cells give is all the evidence.

    Raises:
        DoesNotCompile: it can't, and the policy is for graph mode, or a price is asked for, which needs the graph.
        NotApplied: the table is not what the policy asks.
        TooLarge: the step's price is more memory than allowed.
    """
    try:
        proven = compile_proven(prepared, workload, policy, request.folder)
    except DoesNotCompile as error:
        if policy.mode == "graph":
            raise
        if request.price_for is not None or request.memory_bound is not None:
            raise DoesNotCompile(
                f"{error}; neither time nor memory is priced without a graph, but speed can be measured"
            ) from error
        return partial(prepared, policy, error)
    known["priced"] = _price(proven.table, workload.batch_size, request)
    if policy.mode == "graph":
        known["compile_time_s"] = proven.compile_time_s
    _take(proven, request.folder, known)
    known["least_memory_bytes"] = price_memory(proven.table).total_bytes
    # Float32 is trained whatever it needs: the others' quality is held against its own.
    if not is_float32(policy) and (cause := _too_large(known, request)):
        raise TooLarge(cause)
    return None if proven.evidence.training_key(policy) in request.trained else checked(proven)


def _watched(
    prepared: Prepared, policy: Policy, request: TrialRequest, known: dict[str, Any], judge: Judge
) -> Callable[..., Any]:
    """The training step; in PyNative mode its first call is watched and judged."""
    if policy.mode == "graph":
        return prepared.step

    def take(calls: Sequence[SeenCall]) -> None:
        _take(judge(calls), request.folder, known)

    return WatchedStep(prepared.step, prepared.network, take)


def _take(proven: ProvenStep, folder: Path, known: dict[str, Any]) -> None:
    """Keep table and evidence.

    Raises:
        NotApplied: there are mismatches.
    """
    with written_aside(folder / OPS_FILE) as aside:
        proven.table.to_csv(aside, index=False)
    known["evidence"] = proven.evidence
    if proven.evidence.mismatches:
        raise NotApplied("; ".join(proven.evidence.mismatches))


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


def _too_large(known: Mapping[str, Any], request: TrialRequest) -> str | None:
    """Why the step needs more memory than it may, by its price or by what was measured of it so far."""
    bound, least_bytes = request.memory_bound, known.get("least_memory_bytes")
    if bound is None:
        return None
    priced = bound.refuse_priced(least_bytes) if least_bytes is not None else None
    return priced or bound.refuse_measured(known.get("peak_memory_bytes"), request.target)


def _bounded(known: Mapping[str, Any], request: TrialRequest) -> dict[str, Any]:
    """What becomes of a policy that trained with more memory than it may: its figures stay, it does not count."""
    cause = _too_large(known, request) if known["status"] == "trained" else None
    return {"status": "infeasible", "cause": cause} if cause else {}


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
        "steps_run": len(training.wall_s),
        "losses": tuple(loss if math.isfinite(loss) else None for loss in training.losses),
        "loss_scales": tuple(training.loss_scales),
        "updates_applied": training.applied,
        "updates_skipped": training.skipped,
        "step_time": step_time,
        # A skipped step costs its time and trains nothing: only applied updates count.
        "throughput_samples_per_s": step_time and batch_size * training.applied / done / step_time.wall_s,
        "peak_memory_bytes": peak_memory_bytes(request.target),
    }


def _judge(training: Training, prepared: Prepared, workload: Workload, request: TrialRequest) -> dict[str, Any]:
    """Status, cause and quality; the weights of a step that went wrong are kept for the diagnosis."""
    if training.cause is not None:
        place = None
        if training.first_bad_step is not None:
            dirty = first_dirty(workload.batches(request.seed), len(training.losses))
            if dirty is not None:
                return {"status": "infeasible", "cause": f"{training.cause}: the data are dirty, {dirty}"}
            place = Place(step=training.first_bad_step)
            ms.save_checkpoint(prepared.network, str(request.folder / STATE_FILE))
        return {"status": "infeasible", "cause": training.cause, "first_non_finite": place}
    try:
        quality = quality_of(workload.evaluate(predictor(prepared.network)), workload.metric.name)
    except NoQuality as error:
        return {"status": "infeasible", "cause": str(error)}
    return {"status": "trained", "quality": quality, "quality_by_steps": {len(training.losses): quality}}


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
