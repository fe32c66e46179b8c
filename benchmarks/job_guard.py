"""A job that trains a workload step by step, under the guard or without."""

import itertools
import math

import mindspore as ms
import numpy as np

from halfwise.evaluators.device import use_device
from halfwise.evaluators.guard import Guard, GuardedTraining
from halfwise.evaluators.training import as_tensors
from halfwise.evaluators.trial import predictor
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import parse_policy

from .guard import Guarded, GuardedRequest


def train_guarded(request: GuardedRequest) -> Guarded:
    """Train and evaluate."""
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode)
    workload = load_workload(request.reference, None)
    ms.set_seed(request.seed)
    np.random.seed(request.seed)
    network = workload.network()
    optimizer = workload.optimizer(network.trainable_params())
    inputs = len(workload.sample_batch().inputs)
    guard = Guard() if request.guarded else None
    guarded = GuardedTraining(network, workload.loss(), optimizer, policy, inputs, guard)
    batches = itertools.islice(workload.batches(request.seed), request.steps)
    updates = sum(guarded.step(*as_tensors(batch)).finite for batch in batches)
    quality = workload.evaluate(predictor(network))
    return Guarded(
        quality=quality if math.isfinite(quality) else None,
        updates=updates,
        log=tuple(map(str, guarded.log)),
    )
