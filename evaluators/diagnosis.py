"""The job that names the first op to go non-finite: the failing step again, every value written down."""

import itertools
import shutil
from pathlib import Path

import mindspore as ms

from ..policies.text import parse_policy
from .compile_failure import DoesNotCompile
from .device import use_device
from .dumped_step import run_dumped
from .eager_origin import first_non_finite_layer
from .outcome import Place
from .prepared import Prepared, prepare
from .request import DiagnosisRequest
from .value_dump import dump_everything
from .workload import Batch
from .workload_reference import load_workload


def run_diagnosis(request: DiagnosisRequest) -> Place:
    """The place completed by layer, op and direction, as far as the dump tells; in graph mode where that compiles.

    The trial's weights at that step are read back, so only one step runs. Of what is not finite, only that counts
    which reached the loss or a gradient. Of a network that only PyNative mode can run, the layer is named.

    Raises:
        DoesNotCompile: graph mode cannot compile the step, and the policy is for graph mode.
    """
    dump = request.folder / "values"
    try:
        return _diagnose(request, dump)
    finally:
        # Every value of a step: too large to be left behind, whatever came of it.
        shutil.rmtree(dump, ignore_errors=True)


def _diagnose(request: DiagnosisRequest, dump: Path) -> Place:
    dump_everything(dump)
    use_device(request.target, "graph", request.device_id)
    workload = load_workload(request.workload, request.search_path)
    policy = parse_policy(request.policy)
    prepared = prepare(workload, policy.replace(mode="graph"), request.seed)
    ms.load_checkpoint(str(request.state), prepared.network)
    prepared.step.scaler.scale_value.set_data(ms.Tensor(request.loss_scale, ms.float32))
    batch = next(itertools.islice(workload.batches(request.seed), request.step, None))
    try:
        row = run_dumped(prepared, batch, dump).first_non_finite()
    except DoesNotCompile:
        if policy.mode == "graph":
            raise
        return _in_pynative(prepared, batch, request.place)
    if row is None:
        return request.place
    return request.place.model_copy(update={name: row[name] for name in ("layer", "op", "direction")})


def _in_pynative(prepared: Prepared, batch: Batch, place: Place) -> Place:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    layer = first_non_finite_layer(prepared.network, [ms.Tensor(array) for array in batch.inputs])
    return place if layer is None else place.model_copy(update={"layer": layer, "direction": "forward"})
