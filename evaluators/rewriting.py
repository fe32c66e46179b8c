"""The job behind `halfwise rewrite`: build a workload's network, rewrite it, compare the two."""

import tempfile
from dataclasses import asdict

import mindspore as ms
from mindspore import nn

from ..policies.rewrite.patterns import Rewriting, Rule, rewrite
from ..policies.rewrite.transforms import (
    FiniteWatch,
    clip_gradients_by_norm,
    clip_gradients_by_value,
    fold_batchnorm,
)
from .device import use_device
from .rewriting_result import AskedRule, ChangedLayers, LeftLayer, RewritingRequest, RewritingResult
from .workload_reference import load_workload

# So that statistics that are kept in training are none of their first values, with which folding would be easy.
_PASSES_BEFORE = 2


def rewrite_workload(request: RewritingRequest) -> RewritingResult:
    """Rewrite the network with fresh weights, after a few forward passes in training mode, set to evaluation.

    Raises:
        InputError: the workload is wrong.
        HalfwiseError: the rewritten network does not run or computes something else.
    """
    # This process ends without Python's own cleaning up: its folder goes, with what lies in it.
    tempfile.tempdir = str(request.folder)
    use_device(request.target, request.mode, request.device_id)
    workload = load_workload(request.workload, request.search_path)
    ms.set_seed(0)
    network = workload.network()
    inputs = [ms.Tensor(array) for array in workload.sample_batch().inputs]
    network.set_train(True)
    for _ in range(_PASSES_BEFORE):
        network(*inputs)
    watch = FiniteWatch()
    found = rewrite(network.set_train(False), [_rule(asked, watch) for asked in request.rules], inputs)
    return _result(workload.name, found)


def _result(workload: str, found: Rewriting) -> RewritingResult:
    report, equality = found.report, found.equality
    return RewritingResult(
        workload=workload,
        matched=report.matched,
        changed=tuple(ChangedLayers(**asdict(change)) for change in report.changes),
        left=tuple(LeftLayer(**asdict(left)) for left in report.left),
        largest_difference=equality.largest_difference if equality else None,
        tolerance=equality.tolerance if equality else None,
        source=found.source,
    )


def _rule(asked: AskedRule, watch: FiniteWatch) -> Rule:
    if asked.name == "fold-batchnorm":
        return fold_batchnorm
    layer = getattr(nn, (asked.layer or "").removeprefix("nn."))
    if asked.name == "check-finite":
        return watch.rule(layer)
    clip = clip_gradients_by_value if asked.name == "clip-value" else clip_gradients_by_norm
    return clip(asked.limit or 0.0, layer)
