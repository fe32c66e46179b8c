"""The job that looks at a workload before a search: its layers, the ops that each computes, its lengths."""

from collections.abc import Iterable

import mindspore as ms
import pandas as pd

from ..policies import BUILTIN, OP_CLASSES, NetworkOutline
from ..policies.errors import InputError
from ..policies.rewrite import read_outline
from .compile_failure import DoesNotCompile
from .data_digest import data_digest
from .device import use_device
from .eager_step import watch_forward
from .evidence import SeenCall, known_ops
from .prepared import Prepared, prepare
from .price import price_memory
from .proven_step import compile_proven
from .survey_result import Survey, SurveyedCell, SurveyRequest
from .workload import Workload
from .workload_reference import load_workload


def run_survey(request: SurveyRequest) -> Survey:
    """Compile the workload's training step once, in float32, and write down what is there; nothing is run.

    Where graph mode cannot compile it and the search is for PyNative mode, the forward pass is run once instead,
    to see its Cells: of these, the ops are known for MindSpore's own layers only.

    Raises:
        InputError: the workload is wrong, or MindSpore cannot compile it: its words, and the user's file and line.
    """
    use_device(request.target, request.mode, request.device_id)
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, BUILTIN["O0"].replace(mode=request.mode), seed=0)
    cells, least_memory_bytes, partial = _look(prepared, workload, request)
    parameters = prepared.network.trainable_params()
    return Survey(
        workload=workload.name,
        metric=workload.metric.name,
        direction=workload.metric.direction,
        batch_size=workload.batch_size,
        trial_steps=workload.trial_steps,
        full_steps=workload.full_steps,
        parameters=sum(parameter.size for parameter in parameters),
        parameter_shapes={name: tuple(each.shape) for name, each in prepared.network.parameters_and_names()},
        mindspore_version=ms.__version__,
        least_memory_bytes=least_memory_bytes,
        cells=cells,
        partial=partial,
        data_digest=data_digest(workload.batches(seed=0)),
    )


def _look(
    prepared: Prepared, workload: Workload, request: SurveyRequest
) -> tuple[tuple[SurveyedCell, ...], int | None, str | None]:
    """The Cells, the least memory of any policy, and why they were seen in PyNative mode, if they were.

    Without the graph the memory is not known.
    """
    outline = read_outline(prepared.network)
    try:
        table = compile_proven(prepared, workload, BUILTIN["O0"], request.folder).table
        return _cells(outline, table), price_memory(table).least_bytes, None
    except DoesNotCompile as error:
        if request.mode == "graph":
            raise InputError(
                f"MindSpore cannot compile the training step of {workload.name}: {error}; "
                "a search with `mode: pynative` and `speed: measured` needs no graph"
            ) from error
        return _seen_cells(outline, watch_forward(prepared, workload)), None, str(error)


def _cells(outline: NetworkOutline, table: pd.DataFrame) -> tuple[SurveyedCell, ...]:
    """Every Cell with the ops of its own whose precision a policy decides."""
    governed = table[(table["direction"] == "forward") & table["graph_op"].isin(OP_CLASSES)]
    governed = governed[governed["compute_precision"].notna()]
    return tuple(
        SurveyedCell(
            path=cell.path,
            aliases=cell.aliases,
            type_names=cell.type_names,
            ops=_sorted(governed["op"][governed["layer"] == cell.path]),
        )
        for cell in outline.cells
    )


def _seen_cells(outline: NetworkOutline, calls: Iterable[SeenCall]) -> tuple[SurveyedCell, ...]:
    """Every Cell; those that gave a float may compute some, unless they only hold others."""
    seen = {call.layer: call for call in calls if any(tensor.precision for tensor in call.outputs)}
    return tuple(
        SurveyedCell(
            path=cell.path,
            aliases=cell.aliases,
            type_names=cell.type_names,
            ops=_sorted(known_ops(seen[cell.path])) if cell.path in seen else (),
            may_compute=cell.path in seen and cell.type_names[:1] != ("nn.SequentialCell",),
        )
        for cell in outline.cells
    )


def _sorted(ops: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(ops)))
