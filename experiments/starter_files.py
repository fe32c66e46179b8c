"""The files that `halfwise init` writes: a small search that runs as it is, commented for who changes it."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..policies.errors import HalfwiseError, InputError
from ..policies.whole_file import write_text

_EXPERIMENT = """\
# A search for precision policies: `halfwise search search.yaml`. The same command again goes on where it stood.
schema: halfwise/experiment/1

# module:function, looked for beside this file first.
workload: my_workload:make_workload

# How many policies are tried, MindSpore's levels O0 (float32), O1, O2, O3 and auto among them.
trials: 10
# Other ends of a search, whichever comes first:
# time_limit: 1h30m
# full_runs: 2            # as many training steps as two whole trainings

# What quality may be lost, relative to float32's. Without it, what float32 itself differs by from seed to seed.
# tolerance: 0.005

# The device to train on: auto, CPU, GPU or Ascend.
device: auto
# What speed means: measured, or the price on a device that need not be here (`halfwise devices` lists them).
# speed: {priced: a100-tf32}

# Everything random comes from this.
seed: 1

# Policies of your own, tried after the levels: a file, or a text in braces.
# policies:
#   norms-in-float32: "{default: float16, layers: {nn.LayerNorm: float32}}"
"""

_WORKLOAD = '''\
"""What halfwise must know of your training: network, loss, optimizer, data and metric.

It calls make_workload in a fresh process for every trial. As it stands it learns to tell points inside a ring from
those outside; put your own in, part by part, and `halfwise search search.yaml` will tell whether it still runs.
"""

import numpy as np
from mindspore import nn

from halfwise.evaluators.array_workload import ArrayWorkload, Metric


class Network(nn.Cell):
    """Your network. Import it from your own module if it has one."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(2, 32)
        self.norm = nn.LayerNorm((32,))
        self.activation = nn.GELU()
        self.second = nn.Dense(32, 2)

    def construct(self, points):
        """(N, 2) points to (N, 2) scores."""
        return self.second(self.activation(self.norm(self.first(points))))


def make_samples(count, seed):
    """Your data: what the network takes, (N, ...), and the label of each sample; NumPy arrays."""
    points = np.random.default_rng(seed).normal(size=(count, 2)).astype(np.float32)
    distance = np.linalg.norm(points, axis=1)
    return points, ((distance > 0.7) & (distance < 1.6)).astype(np.int32)


def accuracy(scores, labels):
    """Your metric, on what the trained network gives for the held-out samples."""
    return float(np.mean(scores.argmax(axis=1) == labels))


def make_workload():
    """What search.yaml names."""
    return ArrayWorkload(
        name="ring",
        # The metric's name, and which way is better: "maximize" or "minimize".
        metric=Metric("accuracy", "maximize"),
        make_network=Network,
        make_loss=lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        make_optimizer=lambda parameters: nn.Adam(parameters, learning_rate=0.02),
        training=make_samples(2048, seed=1),
        held_out=make_samples(1024, seed=2),
        score=accuracy,
        batch_size=64,
        # Steps that a trial trains: few, but enough to tell good from bad.
        trial_steps=100,
        # Steps of your real training. A trial is at most a tenth of it.
        full_steps=1000,
    )
'''

FILES: Mapping[str, str] = MappingProxyType({"search.yaml": _EXPERIMENT, "my_workload.py": _WORKLOAD})
"""The text of each file by its name."""


def write_starter(folder: Path) -> None:
    """Write the files into a folder, which is made if it is not there.

    Raises:
        InputError: one of the files is there already; none is written then.
        HalfwiseError: the folder cannot be made or written to.
    """
    there = [str(folder / name) for name in FILES if (folder / name).exists()]
    if there:
        names = " and ".join(there)
        raise InputError(f"{names} would be overwritten: move what is there away, or name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HalfwiseError(f"cannot make the folder {folder}: {error.strerror}") from error
    for name, text in FILES.items():
        write_text(folder / name, text)
