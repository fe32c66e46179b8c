"""The job that names the first op to go non-finite: the failing step again, every value written down."""

import itertools
import shutil
from collections.abc import Mapping

import mindspore as ms
from mindspore import nn

from ..policies.ops import family
from ..policies.text import parse_policy
from .device import use_device
from .outcome import Place
from .prepared import prepare
from .request import DiagnosisRequest
from .training import as_tensors
from .value_dump import DumpedOp, dump_everything, dumped_ops, producers, upstream
from .workload_reference import load_workload

_ROOT_SCOPE = "network-"


def run_diagnosis(request: DiagnosisRequest) -> Place:
    """The place completed by layer, op and direction, as far as the dump tells; always in graph mode.

    The trial's weights at that step are read back, so only one step runs. An op that
    MindSpore's back end made of another carries no layer: it gets that of the nearest op that feeds it.
    """
    dumps = request.folder / "values"
    dump_everything(dumps)
    use_device(request.target, "graph")
    workload = load_workload(request.workload, request.search_path)
    policy = parse_policy(request.policy).replace(mode="graph")
    prepared = prepare(workload, policy, request.seed)
    ms.load_checkpoint(str(request.state), prepared.network)
    prepared.step.scaler.scale_value.set_data(ms.Tensor(request.loss_scale, ms.float32))
    batch = next(itertools.islice(workload.batches(request.seed), request.step, None))
    prepared.step(*as_tensors(batch))[0].asnumpy()
    bad = next((op for op in dumped_ops(dumps) if not op.finite()), None)
    place = request.place if bad is None else _locate(bad, producers(dumps), prepared.network, request.place)
    shutil.rmtree(dumps)
    return place


def _locate(bad: DumpedOp, feeds: Mapping[str, tuple[str, ...]], network: nn.Cell, place: Place) -> Place:
    full_name = next((name for name in feeds if name.replace("/", "_") == bad.name), bad.name)
    layers = (layer_of(name, network) for name in upstream(full_name, dict(feeds)))
    return Place(
        step=place.step,
        layer=next((layer for layer in layers if layer is not None), None),
        op=family(bad.op),
        direction="gradient" if bad.name.startswith("Gradients") else "forward",
    )


def layer_of(full_name: str, network: nn.Cell) -> str | None:
    """The path in the user's network that an op's scope speaks of; "" is the network, None is outside of it.

    A scope reads "Default/network-Net/blocks-CellList/0-Block/Mul-op0". For ops written in the `construct` of
    a class that has several instances MindSpore writes the first instance's scope.
    """
    scopes = full_name.split("/")[:-1]
    root = next((at for at, scope in enumerate(scopes) if scope.startswith(_ROOT_SCOPE)), None)
    if root is None:
        return None
    path, cell = [], network
    for scope in scopes[root + 1 :]:
        child = next((n for n, c in cell._cells.items() if f"{n}-{type(c).__name__}" == scope), None)
        if child is None:
            break
        path.append(child)
        cell = cell._cells[child]
    return ".".join(path)
