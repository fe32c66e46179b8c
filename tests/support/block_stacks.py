"""Stacks of blocks of one class, called in every way that code calls Cells, and their op tables' rows."""

import tempfile
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from halfwise.evaluators.device import use_device
from halfwise.evaluators.evidence import mark_layers, read_op_table
from halfwise.evaluators.graph_dump import dumped_graphs
from halfwise.evaluators.step import TrainStep
from halfwise.policies import Policy
from halfwise.policies.rewrite import apply, make_scaler, read_outline

WIDTH = 4


class Weighted(nn.Cell):
    """A block with a Parameter of its own."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.full((WIDTH, WIDTH), 0.1, np.float32)))


class Product(Weighted):
    """MatMul, by a function."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return ops.matmul(x, self.w)


class Residual(Weighted):
    """MatMul and the Add of its input."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return x + ops.matmul(x, self.w)


class Bounded(Weighted):
    """MatMul and Tanh, both by functions."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return ops.tanh(ops.matmul(x, self.w))


class Plain(nn.Cell):
    """Tanh and Add, without a Parameter."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return x + ops.tanh(x)


class Weighing(nn.Cell):
    """Sin, Softmax and Add: MindSpore copies one compiled Softmax to all its callers."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return x + ops.softmax(ops.sin(x))


class Nested(nn.Cell):
    """A Dense in a residual block."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return x + self.dense(x)


class Stack(nn.Cell):
    """A Dense and blocks behind it."""

    def __init__(self, kind: type[nn.Cell], number: int):
        super().__init__()
        self.first = nn.Dense(WIDTH, WIDTH)
        self.blocks = self.hold([kind() for _ in range(number)])

    def hold(self, blocks: list[nn.Cell]) -> nn.Cell:
        """What the blocks are kept in."""
        return nn.CellList(blocks)


class ByLoop(Stack):
    """Called in a loop over the CellList."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return x


class ByIndex(Stack):
    """Three blocks, each called by its index."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        x = self.first(x)
        x = self.blocks[0](x)
        x = self.blocks[1](x)
        return self.blocks[2](x)


class ByNesting(Stack):
    """Three blocks, called in one expression."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return self.blocks[2](self.blocks[1](self.blocks[0](self.first(x))))


class Sequential(Stack):
    """Called by a SequentialCell."""

    def hold(self, blocks: list[nn.Cell]) -> nn.Cell:
        """What the blocks are kept in."""
        return nn.SequentialCell(*blocks)

    def construct(self, x):
        """(N, WIDTH) to the same."""
        return self.blocks(self.first(x))


class Between(Stack):
    """The network computes what a block computes, between two blocks."""

    def construct(self, x):
        """(N, WIDTH) to the same."""
        x = self.blocks[0](self.first(x))
        x = x + ops.matmul(x, x)
        return self.blocks[1](x)


class Tied(ByIndex):
    """The last block has the first one's Parameter."""

    def __init__(self, kind: type[nn.Cell], number: int):
        super().__init__(kind, number)
        self.blocks[2].w = self.blocks[0].w


BLOCKS = {kind.__name__: kind for kind in (Product, Residual, Bounded, Plain, Weighing, Nested)}
STACKS = {kind.__name__: kind for kind in (ByLoop, ByIndex, ByNesting, Sequential, Between, Tied)}


def rows_of(cases: list[tuple[str, str, int, str]]) -> list[list[dict[str, Any]]]:
    """The forward and gradient rows of each (stack, block, number of blocks, layer in float16 or "")."""
    use_device("CPU", "graph")
    with tempfile.TemporaryDirectory() as folder:
        return [_rows(Path(folder) / str(place), *case) for place, case in enumerate(cases)]


def _rows(folder: Path, stack: str, block: str, number: int, low: str) -> list[dict[str, Any]]:
    network = STACKS[stack](BLOCKS[block], number)
    policy = Policy(default="float32", layers={low: "float16"} if low else {})
    apply(policy, network)
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    step = TrainStep(network, nn.MSELoss(), optimizer, make_scaler(policy.loss_scaling), 1)
    step.set_train()
    mark_layers(network, folder)
    data = ms.Tensor(np.ones((WIDTH, WIDTH), np.float32))
    with dumped_graphs(folder):
        step.compile(data, data)
    table = read_op_table(folder, read_outline(network))
    kept = table[table["direction"].isin(["forward", "gradient"])]
    columns = ["id", "op", "layer", "layer_certain", "direction", "forward_id", "is_cast", "compute_precision"]
    return [
        {**{name: row[name] for name in columns}, "producers": row["producers"], "consumers": row["consumers"]}
        for row in kept.to_dict("records")
    ]
