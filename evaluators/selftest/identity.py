"""Trains a network as it is and one that an all-float32 policy is on, and compares them bit for bit."""

import itertools

import mindspore as ms
import numpy as np

from ...policies import BUILTIN
from ...policies.rewrite import make_scaler
from ..device import use_device
from ..prepared import prepare
from ..step import TrainStep
from ..training import as_tensors
from ..workload import Workload
from ..workload_reference import load_workload
from .result import Identity, IdentityRequest

_SEED = 1
_FLOAT32 = BUILTIN["O0"]


def compare_untouched(request: IdentityRequest) -> Identity:
    """Both train on the same batches from the same seed.

    Raises:
        InputError: the workload is wrong.
    """
    use_device(request.target, _FLOAT32.mode, request.device_id)
    workload = load_workload(request.workload, request.search_path)
    own, rewritten = (
        _trained(step, workload, request.steps)
        for step in (_untouched(workload), prepare(workload, _FLOAT32, _SEED).step)
    )
    differing = [step for step, (a, b) in enumerate(zip(own[0], rewritten[0], strict=True)) if a != b]
    return Identity(
        steps=request.steps,
        first_difference=differing[0] if differing else None,
        parameters_equal=all(np.array_equal(a, b) for a, b in zip(own[1], rewritten[1], strict=True)),
    )


def _untouched(workload: Workload) -> TrainStep:
    ms.set_seed(_SEED)
    np.random.seed(_SEED)
    network = workload.network()
    optimizer = workload.optimizer(network.trainable_params())
    inputs = len(workload.sample_batch().inputs)
    step = TrainStep(network, workload.loss(), optimizer, make_scaler(_FLOAT32.loss_scaling), inputs)
    step.set_train()
    return step


def _trained(step: TrainStep, workload: Workload, steps: int) -> tuple[list[bytes], list[np.ndarray]]:
    """The losses as bytes, so that NaN equals itself, and the parameters at the end."""
    batches = itertools.islice(workload.batches(_SEED), steps)
    losses = [step(*as_tensors(batch))[0].asnumpy().tobytes() for batch in batches]
    return losses, [parameter.asnumpy() for parameter in step.trainable_params()]
