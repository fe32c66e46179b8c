"""Workloads that evidence stumbles over: what graph mode cannot compile, or sees in another way than PyNative."""

from collections.abc import Callable, Iterator

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from tiny_workloads import Tiny, TinyNet, points

from halfwise.evaluators.workload import Batch, Workload


class TryNet(TinyNet):
    """A statement that graph mode refuses."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        try:
            x = self.first(x)
        except ValueError:
            x = x * 1.0
        return self.second(ops.relu(self.norm(x)))


class JoinNet(TinyNet):
    """Two branches that graph mode cannot join if `norm` alone computes low."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        y = self.first(x)
        z = self.norm(y) if y.sum() > -1e9 else y
        return self.second(ops.relu(z))


class LookupNet(TinyNet):
    """Asks for something that isn't there, in a helper of its own."""

    def helper(self, x):
        """Fails."""
        return x + self.nothing

    def construct(self, x):
        """Fails."""
        return self.helper(self.first(x))


class HelperJoinNet(TinyNet):
    """Branches that do not join either, as a statement in a method of its own."""

    def chosen(self, x):
        """(N, 8) to (N, 8)."""
        if x.sum() > -1e9:
            x = self.norm(x)
        return ops.relu(x)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(self.chosen(self.first(x)))


@ops.constexpr
def compiled() -> bool:
    """Whether graph mode asks."""
    return ms.get_context("mode") == ms.GRAPH_MODE


class Fork(nn.Cell):
    """Takes one way in graph mode and the other one in PyNative mode."""

    def __init__(self):
        super().__init__()
        self.left = nn.Dense(8, 8)
        self.right = nn.Dense(8, 8)

    def construct(self, x):
        """(N, 8) to the same."""
        if compiled():
            return self.left(x)
        return self.right(x)


class ForkNet(TinyNet):
    """Its modes differ."""

    def __init__(self):
        super().__init__()
        self.fork = Fork()

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(self.fork(self.norm(self.first(x))))


class Raised(nn.Cell):
    """Gives float32 whatever it computes in: graph mode drops that cast where the next layer is low."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(8, 8)

    def construct(self, x):
        """(N, 8) to the same."""
        return self.dense(x).astype(ms.float32)


class RaisedNet(TinyNet):
    """A cast of the user's between two layers."""

    def __init__(self):
        super().__init__()
        self.raised = Raised()

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(self.raised(self.first(x)))


class StatisticsNet(TinyNet):
    """Keeps statistics. Without dropout: in PyNative mode MindSpore draws other masks from process to process."""

    def __init__(self):
        super().__init__()
        self.batch_norm = nn.BatchNorm1d(8)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(ops.relu(self.batch_norm(self.first(x))))


class DynamicNet(TinyNet):
    """The number of values that one op gives depends on the data."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        scores = self.second(self.norm(self.first(x)))
        return scores + ops.nonzero(scores > 0).sum().astype(ms.float32) * 1e-6


class UnknownBatchNet(TinyNet):
    """Declares that its batch may have any size."""

    def __init__(self):
        super().__init__()
        self.set_inputs(ms.Tensor(shape=[None, 2], dtype=ms.float32))


class SortingNet(TinyNet):
    """Holds an op without a rule for its arithmetic."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(ops.sort(self.norm(self.first(x)))[0])


class FixedScores(nn.Cell):
    """Gives its Parameter and computes nothing."""

    def __init__(self):
        super().__init__()
        self.scores = ms.Parameter(np.zeros((32, 2), np.float32))

    def construct(self, x):
        """(32, 2) to the same."""
        return self.scores


def _with(kind: type[nn.Cell]) -> Callable[[], Workload]:
    class Awkward(Tiny):
        def network(self) -> nn.Cell:
            return kind()

    return Awkward


class MeanNet(TinyNet):
    """Calls a function that its loss calls too."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        y = self.first(x)
        return self.second(self.norm(y) + ops.mean(y, 1, True))


class MeanLoss(nn.Cell):
    """The mean square of scores less classes, by functions."""

    def construct(self, scores, classes):
        """(N, 2) and (N,) to one number."""
        return ops.mean(ops.square(scores - classes.reshape(-1, 1)))


class MeanInLoss(Tiny):
    """A network and a loss that share `ops.mean`."""

    def network(self) -> nn.Cell:
        """A MeanNet."""
        return MeanNet()

    def loss(self) -> nn.Cell:
        """A MeanLoss."""
        return MeanLoss()


class Shrinking(Tiny):
    """Its second batch is smaller than its first."""

    def batches(self, seed: int) -> Iterator[Batch]:
        """32 points, then 16 of them for ever."""
        inputs, labels = points()
        yield Batch((inputs[:32],), (labels[:32],))
        while True:
            yield Batch((inputs[:16],), (labels[:16],))


make_try = _with(TryNet)
make_join = _with(JoinNet)
make_helper_join = _with(HelperJoinNet)
make_lookup = _with(LookupNet)
make_fork = _with(ForkNet)
make_raised = _with(RaisedNet)
make_statistics = _with(StatisticsNet)
make_dynamic = _with(DynamicNet)
make_unknown_batch = _with(UnknownBatchNet)
make_sorting = _with(SortingNet)
make_fixed_scores = _with(FixedScores)
make_shrinking = Shrinking
make_mean_in_loss = MeanInLoss
