"""Workloads for tests of localisation: each with one known place where float16 fails."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false, reportOperatorIssue=false

from collections.abc import Iterator

import mindspore as ms
from mindspore import nn, ops
from tiny_workloads import FaintLoss, FaintWorkload, Tiny, TinyNet, points

from halfwise.evaluators.workload import Batch, Workload


class Masked(nn.Cell):
    """Shares of scores, of which half are masked out by a number that float16 takes for minus infinity."""

    def __init__(self):
        super().__init__()
        self.mask = ms.Tensor([0.0] * 4 + [-1e5] * 4, ms.float32)

    def construct(self, x):
        """(N, 8) to (N, 8); the sum is minus infinity in float16, the softmax finite again."""
        return ops.softmax(x + self.mask, -1)


class Squares(nn.Cell):
    """Squares of numbers around 400, brought to size."""

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        large = ops.tanh(x) * 400.0
        return large * large * 1e-5


class LateOverflowNet(nn.Cell):
    """A Dense layer and a harmless mask in front of a product that overflows float16."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(2, 8)
        self.masked = Masked()
        self.squares = Squares()
        self.second = nn.Dense(8, 2)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        y = self.first(x * 4.0)
        return self.second(self.squares(y) + self.masked(y))


class LateOverflowWorkload(Tiny):
    """Breaks in float16 at the product of `squares`, and nowhere before."""

    def network(self) -> nn.Cell:
        """A LateOverflowNet."""
        return LateOverflowNet()


class EagerSquares(Squares):
    """The same squares, written so that graph mode cannot compile them."""

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        try:
            large = ops.tanh(x) * 400.0
        except ValueError:
            large = x
        return large * large * 1e-5


class EagerOverflowNet(LateOverflowNet):
    """A LateOverflowNet for PyNative mode alone."""

    def __init__(self):
        super().__init__()
        self.squares = EagerSquares()


class EagerOverflowWorkload(Tiny):
    """Breaks in float16 at the product of `squares`, where no graph shows it."""

    def network(self) -> nn.Cell:
        """An EagerOverflowNet."""
        return EagerOverflowNet()


class FrozenLoss(FaintLoss):
    """Cross entropy times 1e-9, of the whole data set: without a loss scale float16 sees no gradient at all."""

    def construct(self, outputs, labels):
        """(N, 2) and (N,) to one small number."""
        return self.cross_entropy(outputs, labels) * 1e-9


class FrozenWorkload(FaintWorkload):
    """All gradients vanish in float16 without a loss scale, so the loss never moves."""

    batch_size = 256

    def loss(self) -> nn.Cell:
        """A FrozenLoss."""
        return FrozenLoss()

    def batches(self, seed: int) -> Iterator[Batch]:
        """The whole data set, in one order."""
        inputs, labels = points()
        while True:
            yield Batch((inputs,), (labels,))


class Logarithms(nn.Cell):
    """The logarithm of numbers that may be 0, as people guard it in float32."""

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return ops.log(ops.relu(x) + 1e-8) * 0.05


class Lengths(nn.Cell):
    """The length of vectors of eight numbers of 300: the sum of their squares is 720,000."""

    def construct(self, x):
        """(N, 8) to (N, 1)."""
        scaled = ops.tanh(x) * 300.0
        return ops.sqrt((scaled * scaled).sum(-1, keepdims=True) + 1.0) * 1e-3


class FunctionNet(TinyNet):
    """A TinyNet with a Cell of the user's own between its layers."""

    def __init__(self, own: nn.Cell):
        super().__init__()
        self.own = own

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        y = self.first(x)
        return self.second(self.norm(y + self.own(y)))


def _with(own: type[nn.Cell]) -> type[Workload]:
    class OwnWorkload(Tiny):
        def network(self) -> nn.Cell:
            return FunctionNet(own())

    return OwnWorkload


make_late_overflow = LateOverflowWorkload
make_eager_overflow = EagerOverflowWorkload
make_frozen = FrozenWorkload
make_logarithms = _with(Logarithms)
make_lengths = _with(Lengths)
