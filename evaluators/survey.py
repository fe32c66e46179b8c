"""The job that looks at a workload before a search: its layers, the ops that each computes, its lengths."""

from collections.abc import Iterable

import mindspore as ms
import pandas as pd

from ..policies import BUILTIN, OP_CLASSES, NetworkOutline
from ..policies.errors import InputError
from ..policies.rewrite import read_outline
from .device import use_device
from .prepared import Prepared, prepare
from .proven_step import ProvenStep, compile_error, compile_proven
from .request import WorkloadRequest
from .survey_result import Survey, SurveyedCell
from .workload import Workload
from .workload_reference import load_workload


def run_survey(request: WorkloadRequest) -> Survey:
    """Compile the workload's training step once, in float32, and write down what is there; nothing is run.

    Raises:
        InputError: the workload is wrong, or MindSpore cannot compile it: its words, and the user's file and line.
    """
    use_device(request.target, "graph")
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, BUILTIN["O0"], seed=0)
    proven = _compile(prepared, workload, request)
    parameters = prepared.network.trainable_params()
    return Survey(
        workload=workload.name,
        metric=workload.metric.name,
        direction=workload.metric.direction,
        batch_size=workload.batch_size,
        trial_steps=workload.trial_steps,
        full_steps=workload.full_steps,
        parameters=sum(parameter.size for parameter in parameters),
        mindspore_version=ms.__version__,
        cells=_cells(read_outline(prepared.network), proven.table),
    )


def _compile(prepared: Prepared, workload: Workload, request: WorkloadRequest) -> ProvenStep:
    try:
        return compile_proven(prepared, workload, BUILTIN["O0"], request.folder)
    except (RuntimeError, TypeError, ValueError) as error:
        words = compile_error(error, request.folder)
        raise InputError(f"MindSpore cannot compile the training step of {workload.name}: {words}") from error


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


def _sorted(ops: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(ops)))
