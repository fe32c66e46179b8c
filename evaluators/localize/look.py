"""The job that runs one training step and hands over the values of every op."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import mindspore as ms
import pandas as pd

from ...policies import LOW_PRECISIONS, OP_CLASSES
from ...policies.text import parse_policy
from ..device import use_device
from ..dropout import without_dropout
from ..dumped_step import DumpedStep, run_dumped
from ..prepared import prepare
from ..sensitivity.summed_length import summed_length
from ..training import as_tensors
from ..value_dump import DumpedOp, dump_everything
from ..workload_reference import load_workload
from .op_keys import op_keys
from .values import OpKey, OpValues, Reached, ReachRequest, StepRequest, StepValues

# Beside their data, what these give (scale, shift, statistics) stays in float32.
_OWN_FLOAT32 = frozenset({"normalization", "inplace_normalization"})


def run_step(request: StepRequest) -> StepValues:
    """One step in graph mode, whatever the policy's mode; the values stay in the request's folder.

    Raises:
        InputError: the policy does not fit the network, or the workload is wrong.
        DoesNotCompile: graph mode cannot compile the step.
    """
    dump = request.folder / "values"
    dump_everything(dump, inputs=True)
    use_device(request.target, "graph", request.device_id)
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, parse_policy(request.policy).replace(mode="graph"), request.seed)
    without_dropout(prepared.network)
    if request.state is not None:
        ms.load_checkpoint(str(request.state), prepared.network)
    prepared.step.scaler.scale_value.set_data(ms.Tensor(request.loss_scale, ms.float32))
    batch = next(itertools.islice(workload.batches(request.seed), request.step, None))
    return _values(run_dumped(prepared, batch, dump))


def run_reach(request: ReachRequest) -> Reached:
    """Train in the policy's own mode, and save the weights.

    Raises:
        InputError: the policy does not fit the network, or the workload is wrong.
    """
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode, request.device_id)
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, policy, request.seed)
    for batch in itertools.islice(workload.batches(request.seed), request.steps):
        prepared.step(*as_tensors(batch))[0].asnumpy()
    ms.save_checkpoint(prepared.network, str(request.state))
    return Reached(loss_scale=float(prepared.step.scaler.scale_value.asnumpy()))


def _values(step: DumpedStep) -> StepValues:
    keys = op_keys(step.ops, step.graph)
    seen = {op: tensors for op, tensors in step.by_op().items() if op in keys}
    ops = tuple(_op_values(step.ops.loc[op], keys, step.ops, tensors) for op, tensors in seen.items())
    return StepValues(ops=ops, unseen=len(keys) - len(seen))


def _op_values(
    row: pd.Series, keys: Mapping[int, OpKey], table: pd.DataFrame, tensors: Iterable[DumpedOp]
) -> OpValues:
    key = keys[row["id"]]

    def low(op: int) -> bool:
        return op in keys and keys[op].layer is not None and table.at[op, "compute_precision"] in LOW_PRECISIONS

    files: dict[str, dict[int, Path]] = defaultdict(dict)
    for tensor in tensors:
        if tensor.side == "input" or tensor.index == 0 or OP_CLASSES.get(key.op) not in _OWN_FLOAT32:
            files[tensor.side][tensor.index] = tensor.file
    return OpValues(
        id=row["id"],
        key=key,
        sources=tuple(_before(row, table, keys.__contains__)),
        precision=row["compute_precision"],
        output_precision=row["output_precision"],
        summed_length=summed_length(row, key.op),
        fed_by=tuple(dict.fromkeys((keys[op].layer or "", keys[op].op) for op in _before(row, table, low))),
        inputs=tuple(file for _, file in sorted(files["input"].items())),
        outputs=tuple(file for _, file in sorted(files["output"].items())),
    )


def _before(row: pd.Series, table: pd.DataFrame, is_one: Callable[[int], bool]) -> Iterator[int]:
    """The nearest ops of a kind before an op, each once, through all others."""
    waiting, seen = list(row["producers"]), set[int]()
    while waiting:
        op = waiting.pop(0)
        if op not in seen:
            seen.add(op)
            if is_one(op):
                yield op
            else:
                waiting += table.at[op, "producers"]
