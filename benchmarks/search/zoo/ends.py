"""The groups that a network has for its shape's sake: its first, its last, and those that join two branches."""

from mindspore import ops

from .cells import WIDTH, Group, constant, weight


class Stem(Group):
    """Features (N, F) to the stream."""

    def __init__(self, features: int):
        super().__init__()
        self.matrix = weight(features, WIDTH, deviation=features**-0.5)
        self.bias = constant(WIDTH, 0.0)

    def construct(self, x):
        """A product and a bias."""
        return ops.matmul(x, self.matrix) + self.bias


class Join(Group):
    """Two branches to one stream."""

    def __init__(self):
        super().__init__()
        self.left = constant(WIDTH, 0.5)
        self.right = constant(WIDTH, 0.5)

    def construct(self, left, right):
        """Their weighted sum, channel by channel."""
        return left * self.left + right * self.right


class Head(Group):
    """The stream to the targets (N, C), each of mean 0 and deviation 1."""

    def __init__(self, targets: int):
        super().__init__()
        self.matrix = weight(WIDTH, targets, deviation=0.05)
        self.bias = constant(targets, 0.0)

    def construct(self, x):
        """A product and a bias."""
        return ops.matmul(x, self.matrix) + self.bias


class OffsetHead(Head):
    """The stream to targets that lie `offset` above zero, in their own units."""

    def __init__(self, targets: int, offset: float):
        super().__init__(targets)
        self.offset = offset

    def construct(self, x):
        """A product, a bias and the offset, which leaves float16 two units between neighbours."""
        return ops.matmul(x, self.matrix) + self.bias + self.offset
