"""Workloads for tests: one that learns in a second, and one for each way in which a trial can go wrong."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from halfwise.evaluators.workload import Batch, Metric, Workload, shuffled_batches

SAMPLES = 256


def points() -> tuple[np.ndarray, np.ndarray]:
    """Points of a plane, and whether they lie above a line."""
    inputs = np.random.default_rng(0).normal(size=(SAMPLES, 2)).astype(np.float32)
    return inputs, (inputs[:, 0] + 2 * inputs[:, 1] > 0).astype(np.int32)


class TinyNet(nn.Cell):
    """Two Dense layers with a LayerNorm between."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(2, 8)
        self.norm = nn.LayerNorm((8,))
        self.second = nn.Dense(8, 2)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(ops.relu(self.norm(self.first(x))))


class Tiny(Workload):
    """Learns to tell the two sides of a line apart."""

    name = "tiny"
    metric = Metric("accuracy", "maximize")
    batch_size = 32
    trial_steps = 30
    full_steps = 300

    def network(self) -> nn.Cell:
        """A TinyNet."""
        return TinyNet()

    def loss(self) -> nn.Cell:
        """Cross entropy."""
        return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam with a high rate: few steps must do."""
        return nn.Adam(parameters, learning_rate=0.05)

    def batches(self, seed: int) -> Iterator[Batch]:
        """Batches of 32."""
        inputs, labels = points()
        return shuffled_batches([inputs], [labels], self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """Share of the points on the right side."""
        inputs, labels = points()
        return float((predict(inputs).argmax(1) == labels).mean())


class Overflowing(nn.Cell):
    """Squares numbers around 300: beyond float16's 65,504."""

    def construct(self, x):
        """(N, 2) to (N, 2), in range again."""
        return (x * 300.0) * (x * 300.0) * 1e-5


class OverflowingNet(TinyNet):
    """A TinyNet behind a product that float16 cannot hold; without ReLU, whose CPU kernel makes 0 of NaN."""

    def __init__(self):
        super().__init__()
        self.square = Overflowing()

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(self.norm(self.first(self.square(x + 3.0))))


class OverflowingWorkload(Tiny):
    """Breaks in float16 at the product of `square`."""

    def network(self) -> nn.Cell:
        """An OverflowingNet."""
        return OverflowingNet()


class Functions(nn.Cell):
    """Calls functions that MindSpore compiles once for all callers with the same types."""

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return ops.relu(ops.softmax(ops.gelu(x)) + ops.log_softmax(x) + ops.mean(x, -1, True))


class FunctionsNet(nn.Cell):
    """Two Cells that call the same functions with the same types."""

    def __init__(self):
        super().__init__()
        self.up = nn.Dense(2, 8)
        self.first = Functions()
        self.between = nn.Dense(8, 8)
        self.second = Functions()
        self.down = nn.Dense(8, 2)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.down(self.second(self.between(self.first(self.up(x)))))


class FunctionsWorkload(Tiny):
    """Regions must hold for functions that are shared."""

    def network(self) -> nn.Cell:
        """A FunctionsNet."""
        return FunctionsNet()


class UncompilableNet(TinyNet):
    """Adds what cannot be added."""

    def construct(self, x):
        """Fails to compile."""
        return self.second(self.first(x) + self.second(self.first(x)))


class UncompilableWorkload(Tiny):
    """MindSpore refuses its network in any precision."""

    def network(self) -> nn.Cell:
        """An UncompilableNet."""
        return UncompilableNet()


class TupleAndDict(nn.Cell):
    """Two inputs, one of them integers; outputs nested in a dict and a tuple."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 2)
        self.table = nn.Embedding(SAMPLES, 2)

    def construct(self, x, ids):
        """(N, 2) and (N,) to {"scores": (N, 2), "more": (the same, ids)}."""
        scores = self.dense(x) + self.table(ids) * 0.01
        return {"scores": scores, "more": (scores, ids)}


class FloatIdLoss(nn.Cell):
    """Cross entropy with class ids that come as floats; fails if anything reaches it below float32."""

    def __init__(self):
        super().__init__()
        self.cross_entropy = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, outputs, ids):
        """A dict of outputs and float ids (N,) to one number."""
        if outputs["scores"].dtype != ms.float32 or outputs["more"][0].dtype != ms.float32:
            raise ValueError("outputs must be float32 at the loss")
        if ids.dtype != ms.float32:
            raise ValueError("float labels must stay float32")
        return self.cross_entropy(outputs["scores"], (ids - 4096.0).astype(ms.int32))


class TupleAndDictWorkload(Tiny):
    """Two inputs, a dict of outputs, labels 4096 and 4097 as floats: float16 has no 4097."""

    def network(self) -> nn.Cell:
        """A TupleAndDict."""
        return TupleAndDict()

    def loss(self) -> nn.Cell:
        """A FloatIdLoss."""
        return FloatIdLoss()

    def batches(self, seed: int) -> Iterator[Batch]:
        """Points and their row numbers; labels as floats."""
        inputs, labels = points()
        rows = np.arange(SAMPLES, dtype=np.int32)
        return shuffled_batches([inputs, rows], [labels.astype(np.float32) + 4096], self.batch_size, seed)

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """Accuracy; what the metric sees must be float32."""
        inputs, labels = points()
        scores = predict(inputs, np.arange(SAMPLES, dtype=np.int32))["scores"]
        assert scores.dtype == np.float32
        return float((scores.argmax(1) == labels).mean())


class ConstantLoss(nn.Cell):
    """A loss that does not depend on the network."""

    def construct(self, outputs, labels):
        """Always 1."""
        return (outputs * 0.0).sum() + 1.0


class ConstantLossWorkload(Tiny):
    """Its loss never moves."""

    def loss(self) -> nn.Cell:
        """A ConstantLoss."""
        return ConstantLoss()


class FaintLoss(nn.Cell):
    """Cross entropy times 1e-6: its gradients lie below what float16 can hold."""

    def __init__(self):
        super().__init__()
        self.cross_entropy = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, outputs, labels):
        """(N, 2) and (N,) to one small number."""
        return self.cross_entropy(outputs, labels) * 1e-6


class FaintWorkload(Tiny):
    """Trains in float16 only with a loss scale."""

    def loss(self) -> nn.Cell:
        """A FaintLoss."""
        return FaintLoss()

    def optimizer(self, parameters: Sequence[Any]) -> nn.Optimizer:
        """Adam, which does not care how small gradients are as long as they are there."""
        return nn.Adam(parameters, learning_rate=0.05, eps=1e-15)


class HugeGradientLoss(nn.Cell):
    """A finite loss whose gradient is infinite at every loss scale."""

    def construct(self, outputs, labels):
        """The square root at 0 of something that depends on every weight."""
        return ops.sqrt(outputs.sum() * 0.0)


class HugeGradientWorkload(Tiny):
    """No loss scale works: every step is skipped."""

    trial_steps = 60
    full_steps = 600

    def loss(self) -> nn.Cell:
        """A HugeGradientLoss."""
        return HugeGradientLoss()


class Misbehaving(Tiny):
    """Does something bad when the first batch is asked for, after the network was built."""

    def __init__(self, misdeed: Callable[[], None]):
        self.misdeed = misdeed

    def batches(self, seed: int) -> Iterator[Batch]:
        """The misdeed, then Tiny's batches."""
        self.misdeed()
        return super().batches(seed)


def _raise() -> None:
    raise RuntimeError("the data set is on strike")


def _hang() -> None:
    time.sleep(600)


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _hoard() -> None:
    hoard = []
    while True:
        hoard.append(np.ones(16 << 20, np.uint8))
        time.sleep(0.005)


def _exhaust() -> None:
    raise MemoryError


def _shout() -> None:
    for _ in range(2000):
        os.write(1, b"all work and no play " * 2500)


def _diverge(factor: float) -> Callable[[], Workload]:
    class BadQuality(Tiny):
        def evaluate(self, predict: Callable[..., Any]) -> float:
            return factor

    return BadQuality


make_tiny = Tiny
make_overflowing = OverflowingWorkload
make_uncompilable = UncompilableWorkload
make_functions = FunctionsWorkload
make_tuple_and_dict = TupleAndDictWorkload
make_constant_loss = ConstantLossWorkload
make_faint = FaintWorkload
make_huge_gradient = HugeGradientWorkload
make_nan_quality = _diverge(float("nan"))
make_infinite_quality = _diverge(float("inf"))


def make_raising() -> Workload:
    """Raises."""
    return Misbehaving(_raise)


def make_hanging() -> Workload:
    """Sleeps for ten minutes."""
    return Misbehaving(_hang)


def make_killed() -> Workload:
    """Is killed."""
    return Misbehaving(_kill)


def make_hoarding() -> Workload:
    """Takes memory until it is stopped."""
    return Misbehaving(_hoard)


def make_exhausted() -> Workload:
    """Finds no memory."""
    return Misbehaving(_exhaust)


def make_loud() -> Workload:
    """Prints 105 MB."""
    return Misbehaving(_shout)
