"""Handwritten digits and a small residual network: all of it may run in low precision."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from mindspore import nn, ops
from sklearn.datasets import load_digits

from ...evaluators.outcome import Metric
from ...evaluators.workload import Batch, Workload, shuffled_batches
from .classification import accuracy
from .splits import held_out_split


def conv3x3(channels_in: int, channels_out: int, stride: int = 1) -> nn.Conv2d:
    """A convolution that keeps the size of the image, or divides it by the stride; BatchNorm brings the bias."""
    return nn.Conv2d(channels_in, channels_out, 3, stride, pad_mode="pad", padding=1, weight_init="he_normal")


class ResidualBlock(nn.Cell):
    """Two convolutions beside a shortcut: (N, in, H, W) to (N, out, H / stride, W / stride)."""

    def __init__(self, channels_in: int, channels_out: int, stride: int = 1):
        super().__init__()
        self.conv1 = conv3x3(channels_in, channels_out, stride)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = conv3x3(channels_out, channels_out)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()
        self.shortcut = nn.SequentialCell()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.SequentialCell(
                nn.Conv2d(channels_in, channels_out, 1, stride), nn.BatchNorm2d(channels_out)
            )

    def construct(self, x):
        """Add the block's correction to its input."""
        correction = self.relu(self.bn1(self.conv1(x)))
        correction = self.bn2(self.conv2(correction))
        return self.relu(correction + self.shortcut(x))


class DigitsResNet(nn.Cell):
    """Images (N, 1, 8, 8) to class scores (N, 10)."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.conv = conv3x3(1, 16)
        self.bn = nn.BatchNorm2d(16)
        self.relu = nn.ReLU()
        self.body = nn.SequentialCell(
            ResidualBlock(16, 16), ResidualBlock(16, 32, stride=2), ResidualBlock(32, 64, stride=2)
        )
        self.head = nn.Dense(64, classes)

    def construct(self, images):
        """Convolve, average over the image, classify."""
        features = self.body(self.relu(self.bn(self.conv(images))))
        return self.head(ops.mean(features, (2, 3)))


class DigitsWorkload(Workload):
    """scikit-learn's 1,797 digits of 8 x 8 pixels, 360 of them held out."""

    name = "digits-resnet"
    metric = Metric("accuracy", "maximize")
    batch_size = 64
    trial_steps = 80
    full_steps = 1600

    def __init__(self):
        pixels, digits = load_digits(return_X_y=True)
        self.images = np.asarray(pixels, np.float32).reshape(-1, 1, 8, 8) / 16
        self.digits = np.asarray(digits, np.int32)
        self.train_rows, self.held_out_rows = held_out_split(len(self.images), held_out=360)

    def network(self) -> nn.Cell:
        """A residual network of eight convolutions and three blocks."""
        return DigitsResNet()

    def loss(self) -> nn.Cell:
        """Cross entropy, averaged over the batch."""
        return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Stochastic gradient descent with momentum."""
        return nn.Momentum(parameters, learning_rate=0.05, momentum=0.9)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Images (64, 1, 8, 8) in 0 to 1, and their digits."""
        rows = self.train_rows
        return shuffled_batches((self.images[rows],), (self.digits[rows],), self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The share of held-out digits that get the highest score."""
        return accuracy(predict(self.images[self.held_out_rows]), self.digits[self.held_out_rows])


def make_workload() -> Workload:
    """The workload, with its data loaded."""
    return DigitsWorkload()
