"""Compiles training steps of small networks and keeps their graphs; run as a program, in a process of its own.

`python compile_steps.py FOLDER` writes `FOLDER/NAME/` for each step: the dump, `outline.json`, `policy.json`.
"""

import gc
import json
import shutil
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from halfwise.evaluators.evidence import mark_layers, remove_marks
from halfwise.evaluators.graph_dump import dumped_graphs
from halfwise.evaluators.step import TrainStep
from halfwise.policies import Policy
from halfwise.policies.rewrite import apply, make_scaler, read_outline


class Block(nn.Cell):
    """Functions of every kind: written in place, shared by all callers, with branches inside, in a method."""

    def __init__(self, width: int):
        super().__init__()
        self.up = nn.Dense(width, 2 * width)
        self.gelu = nn.GELU()
        self.down = nn.Dense(2 * width, width)
        self.norm = nn.LayerNorm([width])

    def mixed(self, x):
        """A method of the user's own."""
        return ops.matmul(ops.softmax(ops.matmul(x, x.swapaxes(0, 1)) * 0.5), x)

    def construct(self, x):
        """(N, width) to the same."""
        y = self.down(self.gelu(ops.tanh(self.up(x))))
        return self.norm(x + self.mixed(y) * ops.sigmoid(y))


class Blocks(nn.Cell):
    """Three blocks of one class, held by name."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.a, self.b, self.c = Block(width), Block(width), Block(width)
        self.head = nn.Dense(width, 4)

    def construct(self, x):
        """Scores (N, 4)."""
        return self.head(self.c(self.b(self.a(x))))


class EncoderLayer(nn.Cell):
    """A BERT-like layer: attention and MLP, each followed by a norm."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))
        self.output = nn.Dense(width, width)
        self.norm1, self.norm2 = nn.LayerNorm([width]), nn.LayerNorm([width])
        self.up, self.down = nn.Dense(width, 2 * width), nn.Dense(2 * width, width)

    def split(self, x):
        """(N, T, width) to (N, heads, T, width / heads)."""
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).swapaxes(1, 2)

    def construct(self, x, mask):
        """(N, T, width) to the same."""
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(query, key.swapaxes(2, 3)) * 0.25 + (1 - mask) * -1e4
        mixed = ops.matmul(ops.softmax(scores, -1), value).swapaxes(1, 2).reshape(x.shape)
        x = self.norm1(x + self.output(mixed))
        return self.norm2(x + self.down(ops.gelu(self.up(x))))


class Encoder(nn.Cell):
    """Twelve layers in a CellList; two inputs."""

    def __init__(self, width: int = 16):
        super().__init__()
        self.embedding = nn.Embedding(20, width)
        self.layers = nn.CellList([EncoderLayer(width, 2) for _ in range(12)])
        self.head = nn.Dense(width, 4)

    def construct(self, tokens, mask):
        """Scores (N, 4)."""
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(x[:, 0])


class FunctionFirst(nn.Cell):
    """Begins with a function, so that nothing but the layer behind it tells where it belongs."""

    def __init__(self, width: int):
        super().__init__()
        self.dense = nn.Dense(width, width)

    def construct(self, x):
        """(N, width) to the same."""
        return self.dense(ops.softmax(x))


class FunctionsFirst(nn.Cell):
    """A chain of them in a SequentialCell."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.chain = nn.SequentialCell(*(FunctionFirst(width) for _ in range(4)))
        self.head = nn.Dense(width, 4)

    def construct(self, x):
        """Scores (N, 4)."""
        return self.head(self.chain(x))


class TwiceRelu(nn.Cell):
    """Calls one ReLU before and behind its Dense."""

    def __init__(self, width: int):
        super().__init__()
        self.dense = nn.Dense(width, width)
        self.relu = nn.ReLU()

    def construct(self, x):
        """(N, width) to the same."""
        return self.relu(self.dense(self.relu(x)) + x)


class CalledTwice(nn.Cell):
    """Three of them in a chain."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.body = nn.SequentialCell(*(TwiceRelu(width) for _ in range(3)))
        self.head = nn.Dense(width, 4)

    def construct(self, x):
        """Scores (N, 4)."""
        return self.head(self.body(x))


class Shared(nn.Cell):
    """One Cell under two names, a convolution, two inputs, a branch on a value."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.first = nn.Dense(6, 6)
        self.second = self.first
        self.head = nn.Dense(70, 4)

    def construct(self, images, rows):
        """Images (N, 3, 8, 8) and rows (N, 6) to scores (N, 4)."""
        seen = ops.relu(self.conv(images)).reshape(images.shape[0], -1)
        rows = self.second(ops.tanh(self.first(rows)))
        rows = rows * 2.0 if rows.sum() > 0 else rows * 3.0
        return self.head(ops.concat((seen, rows), 1))


ROWS = np.linspace(-1, 1, 48, dtype=np.float32).reshape(6, 8)
LABELS = np.zeros(6, np.int32)
TOKENS = np.arange(30, dtype=np.int32).reshape(6, 5) % 20
MASK = np.ones((6, 1, 5, 5), np.float32)
IMAGES = np.ones((6, 3, 8, 8), np.float32)
FLOAT32 = Policy(default="float32")

STEPS = {
    "blocks": (Blocks, (ROWS,), Policy(default="float32", layers={"b": "float16"})),
    "blocks-again": (Blocks, (ROWS,), Policy(default="float32", layers={"b": "float16"})),
    "blocks-other": (Blocks, (ROWS,), Policy(default="float32", layers={"c": "float16"})),
    "encoder": (
        Encoder,
        (TOKENS, MASK),
        Policy(default="float32", layers={"layers.4": "float16", "layers.7": "float16"}),
    ),
    "called-twice": (CalledTwice, (ROWS,), FLOAT32),
    "functions-first": (FunctionsFirst, (ROWS,), FLOAT32),
    "shared": (
        Shared,
        (IMAGES, ROWS[:, :6].copy()),
        Policy(default="float32", layers={"second": "float16", "conv": "float16"}),
    ),
}


def compile_step(name: str, folder: Path) -> None:
    """Compile one step and write down what its table is read with."""
    kind, inputs, policy = STEPS[name]
    ms.set_seed(0)
    network = kind()
    apply(policy, network)
    outline = read_outline(network)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    step = TrainStep(network, loss, optimizer, make_scaler(policy.loss_scaling), len(inputs))
    step.set_train()
    mark_layers(network, folder)
    with dumped_graphs(folder):
        step.compile(*(ms.Tensor(array) for array in (*inputs, LABELS)))
    cells = [[cell.path, cell.aliases, cell.type_names] for cell in outline.cells]
    (folder / "outline.json").write_text(json.dumps(cells), encoding="utf-8")
    (folder / "policy.json").write_text(str(policy), encoding="utf-8")


def same_outputs(folder: Path) -> list[bool]:
    """Whether a network computes, bit for bit, what it did before: marked, with marks removed, compiled anew."""
    network = Blocks()
    apply(STEPS["blocks"][2], network)
    before = network(ms.Tensor(ROWS)).asnumpy()
    network.compile_cache.clear()
    mark_layers(network, folder)
    outputs = [network(ms.Tensor(ROWS)).asnumpy()]
    remove_marks(network)
    shutil.rmtree(folder)
    outputs.append(network(ms.Tensor(ROWS)).asnumpy())
    network.compile_cache.clear()
    outputs.append(network(ms.Tensor(ROWS)).asnumpy())
    return [bool(np.array_equal(before, output)) for output in outputs]


if __name__ == "__main__":
    # MindSpore collects garbage at every compile: what was imported need not be looked at each time.
    gc.freeze()
    ms.set_context(mode=ms.GRAPH_MODE)
    for step_name in STEPS:
        compile_step(step_name, Path(sys.argv[1]) / step_name)
    # Last: MindSpore looks at the dump variables when a process compiles its first graph, and never again.
    answer = same_outputs(Path(sys.argv[1]) / "outputs")
    (Path(sys.argv[1]) / "same-outputs.json").write_text(json.dumps(answer), encoding="utf-8")
