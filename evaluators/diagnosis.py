"""The job that names the first op to go non-finite: the failing step again, every value written down."""

import itertools
import shutil
from pathlib import Path

import mindspore as ms
import pandas as pd

from ..policies.ops import family
from ..policies.rewrite import read_outline
from ..policies.text import parse_policy
from .device import use_device
from .evidence import mark_layers, read_kernel_table, read_op_table
from .graph_dump import dumped_graphs
from .outcome import Place
from .prepared import prepare
from .request import DiagnosisRequest
from .training import as_tensors
from .value_dump import dump_everything, dumped_ops
from .workload_reference import load_workload


def run_diagnosis(request: DiagnosisRequest) -> Place:
    """The place completed by layer, op and direction, as far as the dump tells; always in graph mode.

    The trial's weights at that step are read back, so only one step runs. A kernel that the back end put in
    (a cast, a part of an op) stands for the nearest asked op that feeds it.
    """
    dump = request.folder / "values"
    try:
        return _diagnose(request, dump)
    finally:
        # Every value of a step: too large to be left behind, whatever came of it.
        shutil.rmtree(dump, ignore_errors=True)


def _diagnose(request: DiagnosisRequest, dump: Path) -> Place:
    dump_everything(dump)
    use_device(request.target, "graph")
    workload = load_workload(request.workload, request.search_path)
    policy = parse_policy(request.policy).replace(mode="graph")
    prepared = prepare(workload, policy, request.seed)
    ms.load_checkpoint(str(request.state), prepared.network)
    prepared.step.scaler.scale_value.set_data(ms.Tensor(request.loss_scale, ms.float32))
    batch = next(itertools.islice(workload.batches(request.seed), request.step, None))
    mark_layers(prepared.network, dump / "graphs")
    with dumped_graphs(dump / "graphs"):
        prepared.step(*as_tensors(batch))[0].asnumpy()
    bad = next((op for op in dumped_ops(dump) if not op.finite()), None)
    if bad is None:
        return request.place
    ops = read_op_table(dump / "graphs", read_outline(prepared.network))
    row = _asked_row(bad.name, read_kernel_table(dump / "graphs"), ops)
    return request.place if row is None else _completed(request.place, row)


def _completed(place: Place, row: pd.Series) -> Place:
    return place.model_copy(update={"layer": row["layer"], "op": row["op"], "direction": row["direction"]})


def _asked_row(dumped_name: str, kernels: pd.DataFrame, ops: pd.DataFrame) -> pd.Series | None:
    """The op table's row for a dumped kernel; dumps write "/" in names as "_"."""
    found = kernels.index[kernels["name"].str.replace("/", "_") == dumped_name]
    front, seen = list(found), set(found)
    while front:
        for kernel in front:
            row = _row_of(kernels.loc[kernel], kernels, ops)
            if row is not None:
                return row
        # A cast of the back end: its value is that of the op before it.
        front = [feeder for kernel in front for feeder in kernels.at[kernel, "producers"] if feeder not in seen]
        seen.update(front)
    return None


def _row_of(kernel: pd.Series, kernels: pd.DataFrame, ops: pd.DataFrame) -> pd.Series | None:
    """The op that a kernel was matched with, else the only one left that it can be for."""
    if kernel["asked_id"] is not None:
        return ops.loc[kernel["asked_id"]]
    if kernel["is_cast"]:
        return None
    left = ops[(ops["op"] == family(kernel["op"])) & ~ops["id"].isin(set(kernels["asked_id"].dropna()))]
    left = left[left["output_shapes"] == kernel["output_shapes"]]
    if len(left) > 1:
        left = left[left["output_precision"] == kernel["output_precision"]]
    return left.iloc[0] if len(left) and left["layer"].nunique(dropna=False) == 1 else None
