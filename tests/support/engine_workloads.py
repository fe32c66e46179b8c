"""Workloads whose networks the symbol-tree engine refuses, or takes with functions of the user's in them."""

import mindspore as ms
from mindspore import nn, ops
from tiny_workloads import Tiny, TinyNet


class Gathering(TinyNet):
    """Takes its rows in an order that a tensor gives."""

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        order = ops.argmax(x, 0)
        return self.second(ops.relu(self.norm(self.first(x[order]))))


def squashed(x: ms.Tensor, scale: float = 0.5) -> ms.Tensor:
    """Between minus and plus the scale."""
    return ops.tanh(doubled(x)) * scale


def doubled(x: ms.Tensor) -> ms.Tensor:
    """Twice as much."""
    return x * 2.0


class Helping(TinyNet):
    """Calls functions and a method of the user's."""

    def middle(self, x):
        """A method of the user's."""
        return squashed(self.norm(x), scale=0.25) + doubled(x)

    def construct(self, x):
        """(N, 2) to (N, 2)."""
        return self.second(self.middle(self.first(x)))


class GatheringWorkload(Tiny):
    """Trains a Gathering."""

    def network(self) -> nn.Cell:
        """A Gathering."""
        return Gathering()


class HelpingWorkload(Tiny):
    """Trains a Helping."""

    def network(self) -> nn.Cell:
        """A Helping."""
        return Helping()


make_gathering = GatheringWorkload
make_helping = HelpingWorkload
