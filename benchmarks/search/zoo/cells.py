"""What the groups of a zoo network have in common."""

from collections.abc import Sequence

import mindspore as ms
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, Orthogonal, initializer

WIDTH = 64
"""Numbers a sample in the stream that every group takes and gives."""


class Group(nn.Cell):
    """Takes the stream (N, WIDTH), and an input of its own if its kind has one; gives the stream.

    All its ops stand in its own `construct`, so that a group is one layer to a policy and to a search.
    """


class SideGroup(Group):
    """A group that adds to the stream, times a trained gain a channel, what it makes of an input of its own.

    The gain keeps groups apart backwards: without it the gradient of the stream would go through several groups as
    one and the same value, and a cast of it would serve groups that are no neighbours.
    """

    def __init__(self):
        super().__init__()
        self.gain = constant(WIDTH, 1.0)


class HazardGroup(SideGroup):
    """A side group that has as much to do as its neighbours: what float16 would save in it is worth having."""

    def __init__(self):
        super().__init__()
        self.matrix = weight(WIDTH, WIDTH, deviation=0.03)

    def stream(self, x):
        """The stream without the group's own input: x * gain + relu(x A)."""
        return x * self.gain + ops.relu(ops.matmul(x, self.matrix))


def weight(*shape: int, deviation: float) -> Parameter:
    """A trained tensor, drawn normally."""
    return Parameter(initializer(Normal(deviation), shape, ms.float32))


def rotation(rows: int, columns: int, gain: float = 1.0) -> Parameter:
    """A trained matrix that keeps lengths: what goes through many of them neither grows nor fades."""
    return Parameter(initializer(Orthogonal(gain), (rows, columns), ms.float32))


def constant(shape: Sequence[int] | int, value: float) -> Parameter:
    """A trained tensor that starts with one value everywhere."""
    return Parameter(initializer(value, shape, ms.float32))
