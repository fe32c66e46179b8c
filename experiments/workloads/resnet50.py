"""A ResNet-50 at ImageNet's size, for pricing: its images are noise, so nothing is learned from it here."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from mindspore import nn, ops

from ...evaluators.outcome import Metric
from ...evaluators.workload import Batch, Workload
from .classification import accuracy

CLASSES = 1000
# Blocks and inner width of each stage: with one convolution before and one Dense behind, 50 layers.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
EXPANSION = 4


def convolution(channels_in: int, channels_out: int, size: int, stride: int = 1) -> nn.Conv2d:
    """A convolution that keeps the image's size, or divides it by the stride; BatchNorm brings the bias."""
    return nn.Conv2d(channels_in, channels_out, size, stride, pad_mode="pad", padding=size // 2)


class Bottleneck(nn.Cell):
    """Three convolutions beside a shortcut: (N, in, H, W) to (N, 4 * width, H / stride, W / stride).

    As in version 1.5 of the network, the stride stands at the 3x3 convolution.
    """

    def __init__(self, channels_in: int, width: int, stride: int = 1):
        super().__init__()
        channels_out = EXPANSION * width
        self.conv1 = convolution(channels_in, width, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = convolution(width, width, 3, stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = convolution(width, channels_out, 1)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()
        self.shortcut = nn.SequentialCell()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.SequentialCell(
                convolution(channels_in, channels_out, 1, stride), nn.BatchNorm2d(channels_out)
            )

    def construct(self, x):
        """Narrow, convolve, widen, and add the block's input."""
        correction = self.relu(self.bn1(self.conv1(x)))
        correction = self.relu(self.bn2(self.conv2(correction)))
        return self.relu(self.bn3(self.conv3(correction)) + self.shortcut(x))


class ResNet50(nn.Cell):
    """Images (N, 3, H, W) to class scores (N, classes)."""

    def __init__(self, classes: int = CLASSES):
        super().__init__()
        self.conv = convolution(3, 64, 7, 2)
        self.bn = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(3, 2, pad_mode="same")
        self.body = nn.SequentialCell(*_bottlenecks())
        self.head = nn.Dense(EXPANSION * STAGES[-1][1], classes)

    def construct(self, images):
        """Convolve, average over the image, classify."""
        features = self.body(self.pool(self.relu(self.bn(self.conv(images)))))
        return self.head(ops.mean(features, (2, 3)))


def _bottlenecks() -> Iterator[Bottleneck]:
    channels = 64
    for stage, (blocks, width) in enumerate(STAGES):
        for block in range(blocks):
            yield Bottleneck(channels, width, stride=2 if stage > 0 and block == 0 else 1)
            channels = EXPANSION * width


class ResNet50Workload(Workload):
    """One batch of noise in the shape of ImageNet's: good for pricing a policy, not for training.

    Lengths are those of a common training (90 epochs of 1.28 million images), and its metric is chance.
    """

    name = "resnet50"
    metric = Metric("accuracy", "maximize")
    trial_steps = 100
    full_steps = 3_600_000

    def __init__(self, batch_size: int = 32, image_size: int = 224):
        self.batch_size = batch_size
        self.image_size = image_size

    def network(self) -> nn.Cell:
        """The 25.6 million weights of ResNet-50 v1.5."""
        return ResNet50()

    def loss(self) -> nn.Cell:
        """Cross entropy, averaged over the batch."""
        return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Stochastic gradient descent with momentum."""
        return nn.Momentum(parameters, learning_rate=0.1, momentum=0.9)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Images (N, 3, 224, 224) and their classes, drawn anew each time."""
        random = np.random.default_rng(seed)
        while True:
            yield self._noise(random, self.batch_size)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The share of one batch of noise that is classified right: about 1 in 1,000."""
        batch = self._noise(np.random.default_rng(2**32 - 1), self.batch_size)
        return accuracy(predict(*batch.inputs), batch.labels[0])

    def _noise(self, random: np.random.Generator, samples: int) -> Batch:
        images = random.standard_normal((samples, 3, self.image_size, self.image_size), np.float32)
        return Batch((images,), (random.integers(0, CLASSES, samples, np.int32),))


def make_workload() -> Workload:
    """The workload at batch 32."""
    return ResNet50Workload()
