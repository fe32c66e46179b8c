"""What tests of prices run in fresh processes; every function takes and returns plain data."""

import importlib
import pickle
from pathlib import Path
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from halfwise.evaluators.device import use_device
from halfwise.evaluators.evidence import mark_layers, read_op_table
from halfwise.evaluators.graph_dump import dumped_graphs
from halfwise.evaluators.step import TrainStep
from halfwise.evaluators.training import as_tensors
from halfwise.policies import parse_policy
from halfwise.policies.rewrite import apply, make_scaler, read_outline


class Mixed(nn.Cell):
    """A bit of everything that casts depend on: convolution, in-place norm, shortcut, LayerNorm, two takers."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(8, 8, 3)
        self.bn2 = nn.BatchNorm2d(8)
        self.norm = nn.LayerNorm((8,))
        self.left = nn.Dense(8, 8)
        self.right = nn.Dense(8, 8)
        self.head = nn.Dense(8, 4)

    def construct(self, images):
        """Images (N, 3, H, W) to scores (N, 4)."""
        x = self.relu(self.bn(self.conv(images)))
        x = x + self.bn2(self.conv2(x))
        x = self.norm(ops.mean(x, (2, 3)))
        return self.head(ops.tanh(self.left(x)) + self.right(x))


def compile_mixed(policies: list[str], file: str) -> int:
    """Compile a training step of the network under each policy; the tables and the outline go to a pickle."""
    use_device("CPU", "graph")
    images, classes = ms.ops.ones((16, 3, 8, 8), ms.float32), ms.ops.zeros(16, ms.int32)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    tables, outline = [], read_outline(Mixed())
    for number, text in enumerate(policies):
        network, policy = Mixed(), parse_policy(text)
        apply(policy, network)
        folder = Path(file).parent / str(number)
        mark_layers(network, folder / "marks")
        optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
        step = TrainStep(network, loss, optimizer, make_scaler(policy.loss_scaling), 1)
        step.set_train()
        with dumped_graphs(folder / "graphs"):
            step.compile(images, classes)
        tables.append(read_op_table(folder / "graphs", outline))
    Path(file).write_bytes(pickle.dumps((tables, outline)))
    return len(tables)


def workload_facts(module: str) -> dict[str, Any]:
    """Name, weights and shapes of a pricing workload, and the value of its metric for zeros as outputs."""
    use_device("CPU", "graph")
    workload = importlib.import_module(module).make_workload()
    batch, again = workload.sample_batch(), workload.sample_batch()
    return {
        "name": workload.name,
        "weights": sum(parameter.size for parameter in workload.network().trainable_params()),
        "inputs": [[*array.shape, str(array.dtype)] for array in batch.inputs],
        "labels": [[*array.shape, str(array.dtype)] for array in batch.labels],
        "repeats": all((a == b).all() for a, b in zip(batch.inputs, again.inputs, strict=True)),
        "tensors": len(as_tensors(batch)),
    }
