"""What halfwise must know of your project to search policies for it: `halfwise search my_workload.yaml`.

It calls `make_workload` in a fresh process for every trial, so nothing that one training leaves behind reaches
the next. Copy this file beside your network and change what each method returns.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

# Found because this file's folder is searched first. Import your modules here at the top, not in a method.
from digits_net import DigitsNet, load_samples
from mindspore import nn

from halfwise.evaluators.outcome import Metric
from halfwise.evaluators.workload import Batch, Workload, shuffled_batches


class DigitsWorkload(Workload):
    """Digits with the small network of digits_net.py."""

    name = "my-digits"
    # What a policy is judged by, and which way is better: "maximize" or "minimize".
    metric = Metric("accuracy", "maximize")
    batch_size = 32
    # Steps that a trial trains: few, but enough to tell good from bad.
    trial_steps = 120
    # Steps of your real training. A trial is at most a tenth of it.
    full_steps = 2000

    def __init__(self):
        self.training, self.held_out = load_samples()

    def network(self) -> nn.Cell:
        """A fresh network. Seeds are set before; use no other source of chance."""
        return DigitsNet()

    def loss(self) -> nn.Cell:
        """Called as `loss(outputs, *labels)`; the outputs arrive in float32 whatever the policy says."""
        return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """The optimizer of your real training; its weights and state are float32 under every policy."""
        return nn.Adam(parameters, learning_rate=2e-3)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Batches without end, all of one shape; NumPy arrays, first what the network takes, then the labels."""
        samples = self.training
        return shuffled_batches((samples.pixels,), (samples.digits,), self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """The metric on data that was not trained on; `predict` is the trained network, NumPy in and out."""
        scores = predict(self.held_out.pixels)
        return float(np.mean(scores.argmax(axis=1) == self.held_out.digits))


def make_workload() -> Workload:
    """What the experiment file names."""
    return DigitsWorkload()
