"""Your project as it already is: a network, its data, a seed. Nothing here knows of halfwise."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

from collections.abc import Callable
from typing import NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from sklearn.datasets import load_digits


class Block(nn.Cell):
    """A normalised Dense layer beside a shortcut: (N, width) to (N, width)."""

    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm((width,))
        self.dense = nn.Dense(width, width)

    def construct(self, x):
        """Add what the layer finds."""
        return x + ops.relu(self.dense(self.norm(x)))


class DigitsNet(nn.Cell):
    """Pixels (N, 64) to class scores (N, 10)."""

    def __init__(self, width: int = 64):
        super().__init__()
        self.stem = nn.Dense(64, width)
        self.blocks = nn.SequentialCell(Block(width), Block(width))
        self.head = nn.Dense(width, 10)

    def construct(self, pixels):
        """Two blocks between a stem and a head."""
        return self.head(self.blocks(self.stem(pixels)))


class Samples(NamedTuple):
    """Pixels (N, 64) in 0 to 1 as float32, and digits (N,) as int32."""

    pixels: np.ndarray
    digits: np.ndarray


def load_samples() -> tuple[Samples, Samples]:
    """scikit-learn's 1,797 digits: those to train on, and 360 held out."""
    pixels, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(pixels))
    pixels, digits = (pixels[order] / 16).astype(np.float32), digits[order].astype(np.int32)
    return Samples(pixels[360:], digits[360:]), Samples(pixels[:360], digits[:360])


def accuracy(network: Callable[[ms.Tensor], ms.Tensor], samples: Samples) -> float:
    """The share of samples whose digit scores highest."""
    scores = network(ms.Tensor(samples.pixels)).astype(ms.float32).asnumpy()
    return float((scores.argmax(axis=1) == samples.digits).mean())
