"""The job that looks at a workload before a search: its layers, the ops in its graph, its lengths."""

from pathlib import Path

import mindspore as ms
from mindspore import nn
from mindspore.train.anf_ir_pb2 import ModelProto

from ..policies.rewrite import read_outline
from .device import use_device
from .graph_dump import dumped_graphs
from .request import WorkloadRequest
from .step import Predict
from .survey_result import Survey, SurveyedCell
from .training import as_tensors
from .workload import Workload
from .workload_reference import load_workload


def run_survey(request: WorkloadRequest) -> Survey:
    """Build the workload's network once, in float32, and write down what is there; nothing is trained."""
    use_device(request.target, "graph")
    workload = load_workload(request.workload, request.search_path)
    ms.set_seed(0)
    network = workload.network()
    outline = read_outline(network)
    return Survey(
        workload=workload.name,
        metric=workload.metric.name,
        direction=workload.metric.direction,
        batch_size=workload.batch_size,
        trial_steps=workload.trial_steps,
        full_steps=workload.full_steps,
        parameters=sum(parameter.size for parameter in network.trainable_params()),
        mindspore_version=ms.__version__,
        cells=tuple(
            SurveyedCell(path=cell.path, aliases=cell.aliases, type_names=cell.type_names)
            for cell in outline.cells
        ),
        ops=_forward_ops(network, workload, request.folder / "graphs"),
    )


def _forward_ops(network: nn.Cell, workload: Workload, folder: Path) -> tuple[str, ...]:
    """Names of the ops in the network's compiled forward graph, sorted; the graph is dumped and not run."""
    forward = Predict(network)
    forward.set_train()
    inputs = len(workload.sample_batch().inputs)
    with dumped_graphs(folder):
        forward.compile(*as_tensors(workload.sample_batch())[:inputs])
    model = ModelProto()
    model.ParseFromString((folder / "ms_output_optimize.pb").read_bytes())
    return tuple(sorted({node.op_type.removeprefix("PrimFunc_") for node in model.graph.node}))
