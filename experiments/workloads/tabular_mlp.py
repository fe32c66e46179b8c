"""Breast cancer from unscaled measurements: their squares leave float16, and only there may it fail."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from sklearn.datasets import load_breast_cancer

from ...evaluators.outcome import Metric
from ...evaluators.workload import Batch, Workload, shuffled_batches
from .classification import accuracy
from .splits import held_out_split


class SquaredFeatures(nn.Cell):
    """Measurements (N, F) to measurements and relative squares (N, 2 F).

    A square is divided by its column's mean square, so that what leaves this Cell is of modest size; on the
    way an area of 4,254 becomes 1.8e7, where float16 ends at 65,504.
    """

    def __init__(self, mean_squares: np.ndarray):
        super().__init__()
        self.inverse_mean_squares = ms.Tensor(1.0 / mean_squares, ms.float32)

    def construct(self, x):
        """Put the squares beside the measurements."""
        return ops.cat((x, x * x * self.inverse_mean_squares), 1)


class TabularMLP(nn.Cell):
    """Measurements (N, F) to class scores (N, 2)."""

    def __init__(self, mean_squares: np.ndarray, hidden: int = 64, classes: int = 2):
        super().__init__()
        inputs = 2 * len(mean_squares)
        self.features = SquaredFeatures(mean_squares)
        self.norm = nn.BatchNorm1d(inputs)
        self.hidden1 = nn.Dense(inputs, hidden)
        self.hidden2 = nn.Dense(hidden, hidden)
        self.head = nn.Dense(hidden, classes)
        self.tanh = nn.Tanh()

    def construct(self, x):
        """Square, normalise, classify."""
        x = self.norm(self.features(x))
        x = self.tanh(self.hidden1(x))
        x = self.tanh(self.hidden2(x))
        return self.head(x)


class TabularWorkload(Workload):
    """scikit-learn's 569 tumours with 30 measurements each, as they were measured; 169 are held out."""

    name = "tabular-mlp"
    metric = Metric("accuracy", "maximize")
    batch_size = 32
    trial_steps = 60
    full_steps = 1200

    def __init__(self):
        measurements, diagnoses = load_breast_cancer(return_X_y=True)
        self.measurements = np.asarray(measurements, np.float32)
        self.diagnoses = np.asarray(diagnoses, np.int32)
        self.train_rows, self.held_out_rows = held_out_split(len(self.measurements), held_out=169)

    def network(self) -> nn.Cell:
        """Squared features, BatchNorm and three Dense layers; what it knows of the data is the training rows'."""
        return TabularMLP(np.mean(np.square(self.measurements[self.train_rows]), axis=0))

    def loss(self) -> nn.Cell:
        """Cross entropy of the two classes, averaged over the batch."""
        return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam."""
        return nn.Adam(parameters, learning_rate=3e-3)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Measurements (32, 30), unscaled, and diagnoses (0 malignant, 1 benign)."""
        rows = self.train_rows
        return shuffled_batches((self.measurements[rows],), (self.diagnoses[rows],), self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The share of held-out tumours that are told right."""
        return accuracy(predict(self.measurements[self.held_out_rows]), self.diagnoses[self.held_out_rows])


def make_workload() -> Workload:
    """The workload, with its data loaded."""
    return TabularWorkload()
