"""A workload's network under a policy, inside the training step that is compiled, trained and timed."""

from dataclasses import dataclass

import mindspore as ms
import numpy as np
from mindspore import nn

from ..policies.policy import Policy
from ..policies.resolve import Assignment
from ..policies.rewrite import apply, make_scaler
from .step import TrainStep
from .workload import Workload


@dataclass(frozen=True)
class Prepared:
    """The user's network, the step around it, and what the policy asks of each Cell."""

    network: nn.Cell
    step: TrainStep
    assignments: tuple[Assignment, ...]


def prepare(workload: Workload, policy: Policy, seed: int) -> Prepared:
    """A fresh network with the policy on it and the step around it; every random number comes from `seed`."""
    ms.set_seed(seed)
    np.random.seed(seed)
    network = workload.network()
    rewritten = apply(policy, network)
    optimizer = workload.optimizer(network.trainable_params())
    inputs = len(workload.sample_batch().inputs)
    step = TrainStep(network, workload.loss(), optimizer, make_scaler(policy.loss_scaling), inputs)
    step.set_train()
    return Prepared(network, step, rewritten.assignments)
