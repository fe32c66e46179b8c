"""The groups that the tables' networks are made of: each is one Cell with all its ops in its own `construct`.

A group adds what it makes to a stream (N, WIDTH). Its hidden width decides what it gains in float16, the units of
its input what it loses. All products but the last one have fixed random weights (random features; A. Rahimi and
B. Recht, NeurIPS 2007): a thousand networks are compiled for a table, and every trained tensor costs a dozen ops.
"""

from collections.abc import Sequence
from itertools import accumulate

import mindspore as ms
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, Uniform, initializer

WIDTH = 16
"""Numbers a sample in the stream."""


def trained(*shape: int, deviation: float) -> Parameter:
    """A weight that begins normally distributed."""
    return Parameter(initializer(Normal(deviation), shape, ms.float32))


def fixed(*shape: int, deviation: float) -> Parameter:
    """A normally distributed weight that stays as it is."""
    return Parameter(initializer(Normal(deviation), shape, ms.float32), requires_grad=False)


class Chain(nn.Cell):
    """Groups one behind the other; `own` says how many inputs of its own each one takes beside the stream."""

    def __init__(self, groups: Sequence[nn.Cell], own: Sequence[int]):
        super().__init__()
        self.groups = nn.CellList(list(groups))
        self.ends = tuple(accumulate(own))
        self.starts = (0, *self.ends[:-1])

    def construct(self, x, *given):
        """Features (N, F), and the groups' own inputs in the order of the groups, to targets (N, C)."""
        for place in range(len(self.groups)):
            x = self.groups[place](x, *given[self.starts[place] : self.ends[place]])
        return x


class Stem(nn.Cell):
    """Features (N, F) to the stream."""

    def __init__(self, features: int):
        super().__init__()
        self.matrix = trained(features, WIDTH, deviation=features**-0.5)

    def construct(self, x):
        """A product."""
        return ops.matmul(x, self.matrix)


class Head(nn.Cell):
    """The stream to targets (N, C)."""

    def __init__(self, targets: int):
        super().__init__()
        self.matrix = trained(WIDTH, targets, deviation=0.1)

    def construct(self, x):
        """A product."""
        return ops.matmul(x, self.matrix)


class OffsetHead(Head):
    """The stream to targets (N, C) that lie `offset` above zero."""

    def __init__(self, targets: int, offset: float):
        super().__init__(targets)
        self.offset = offset

    def construct(self, x):
        """A product and the offset: in float16 what is given is rounded as numbers of its size are."""
        return ops.matmul(x, self.matrix) + self.offset


class MLP(nn.Cell):
    """x + relu(x A) B."""

    def __init__(self, hidden: int):
        super().__init__()
        self.up = fixed(WIDTH, hidden, deviation=0.2)
        self.down = trained(hidden, WIDTH, deviation=0.02)

    def construct(self, x):
        """Two products; loses nothing in float16."""
        return x + ops.matmul(ops.relu(ops.matmul(x, self.up)), self.down)


class Gated(nn.Cell):
    """x + (tanh(x A) * sigmoid(x B)) C."""

    def __init__(self, hidden: int):
        super().__init__()
        self.up = fixed(WIDTH, hidden, deviation=0.2)
        self.gate = fixed(WIDTH, hidden, deviation=0.2)
        self.down = trained(hidden, WIDTH, deviation=0.02)

    def construct(self, x):
        """Three products; loses nothing in float16."""
        opened = ops.tanh(ops.matmul(x, self.up)) * ops.sigmoid(ops.matmul(x, self.gate))
        return x + ops.matmul(opened, self.down)


class Sensor(nn.Cell):
    """A curve of readings (N, 1) that lie around `centre`."""

    def __init__(self, hidden: int, centre: float, deviation: float):
        super().__init__()
        self.up = fixed(1, hidden, deviation=1 / deviation)
        self.down = trained(hidden, WIDTH, deviation=0.05)
        self.centre = centre

    def construct(self, x, readings):
        """In float16 the readings are rounded before the centre is taken off."""
        return x + ops.matmul(ops.tanh(ops.matmul(readings - self.centre, self.up)), self.down)


class Season(nn.Cell):
    """Waves of one frequency over times (N, 1) in hours, at many phases."""

    def __init__(self, hidden: int, radians_an_hour: float):
        super().__init__()
        self.phases = Parameter(initializer(Uniform(3.14), (1, hidden), ms.float32), requires_grad=False)
        self.down = trained(hidden, WIDTH, deviation=0.05)
        self.radians_an_hour = radians_an_hour

    def construct(self, x, hours):
        """In float16 an angle of a thousand radians is rounded to one radian, and to two beyond 2,048."""
        return x + ops.matmul(ops.sin(hours * self.radians_an_hour + self.phases), self.down)


class Saturation(nn.Cell):
    """How far sigmoids are from 1, at scores (N, 1) of 6.5 to 9."""

    def __init__(self, hidden: int):
        super().__init__()
        self.up = fixed(1, hidden, deviation=1.0)
        self.down = trained(hidden, WIDTH, deviation=0.05)

    def construct(self, x, scores):
        """In float16 neighbours lie 1/2,048 apart below 1, and what is left of it is 0.0001 to 0.0015."""
        left = (1.0 - ops.sigmoid(scores)) * 2500.0 - 1.4
        return x + ops.matmul(ops.tanh(ops.matmul(left, self.up)), self.down)


class Square(nn.Cell):
    """Squares of measurements (N, S) up to 2,000."""

    def __init__(self, side: int):
        super().__init__()
        self.values = fixed(side, WIDTH, deviation=0.03)

    def construct(self, x, measurements):
        """In float16 the squares are infinite."""
        return x + ops.matmul(measurements * measurements * 1e-6, self.values)


class LogEpsilon(nn.Cell):
    """Logarithms of probabilities (N, S), of which some are 0."""

    def __init__(self, side: int):
        super().__init__()
        self.values = fixed(side, WIDTH, deviation=0.03)

    def construct(self, x, probabilities):
        """In float16 1e-8 is 0, and log(0) is -inf."""
        return x + ops.matmul(ops.log(probabilities + 1e-8) * 0.05, self.values)


class Summary(nn.Cell):
    """The mean of a wide input (N, S) in float32, which is read once."""

    def __init__(self):
        super().__init__()
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x, wide):
        """In float16 it is slower: the input is read, written in half the width and read again."""
        return x + self.mean(wide, 1)


class Lookup(nn.Cell):
    """Rows of a given table by the sample's number (N,)."""

    def __init__(self, rows: int):
        super().__init__()
        self.table = fixed(rows, WIDTH, deviation=0.01)

    def construct(self, x, numbers):
        """In float16 it is slower: the whole table is cast to take a few rows of it."""
        return x + ops.gather(self.table, numbers, 0)
