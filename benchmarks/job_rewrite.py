"""A job that puts a policy onto a network of many layers by one engine, and compiles its training step."""

import time

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from halfwise.evaluators.device import use_device
from halfwise.evaluators.step import TrainStep
from halfwise.policies import Policy
from halfwise.policies.rewrite import apply, make_scaler, read_outline

from .jobs import RewriteRequest, Rewritten

WIDTH = 16


class Block(nn.Cell):
    """Three layers and functions beside them."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm([WIDTH])
        self.up = nn.Dense(WIDTH, WIDTH)
        self.down = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return x + self.down(ops.relu(self.up(self.norm(x)))) * 0.5


def rewrite(request: RewriteRequest) -> Rewritten:
    """Apply a policy that gives every layer a precision of its own, and compile; nothing is run."""
    use_device(request.target, "graph")
    network = nn.SequentialCell(*(Block() for _ in range(request.layers // 4)))
    policy = _random_policy(network)
    started_s = time.perf_counter()
    apply(policy, network, engine=request.engine)
    applied_s = time.perf_counter()
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    step = TrainStep(network, nn.MSELoss(), optimizer, make_scaler(policy.loss_scaling), 1)
    step.set_train()
    rows = ms.Tensor(np.ones((8, WIDTH), np.float32))
    built_s = time.perf_counter()
    step.compile(rows, rows)
    return Rewritten(apply_wall_s=applied_s - started_s, compile_wall_s=time.perf_counter() - built_s)


def _random_policy(network: nn.Cell) -> Policy:
    random = np.random.default_rng(0)
    paths = [cell.path for cell in read_outline(network).cells if cell.path]
    return Policy.model_validate({"layers": {path: str(random.choice(["float32", "float16"])) for path in paths}})
