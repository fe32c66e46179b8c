"""Hazards that lose quality in float16 without NaN: the network needs what each learns from its own input."""

from mindspore import ops

from .cells import WIDTH, HazardGroup, weight

_LARGE = 2.0**15


class Vanishing(HazardGroup):
    """A learned direction of its input (N, S), held at a large scale on the way."""

    def __init__(self, side: int):
        super().__init__()
        self.direction = weight(side, 1, deviation=0.02)
        self.values = weight(1, WIDTH, deviation=0.3)

    def construct(self, x, given):
        """Backwards, what lies between the two factors is 32,768 times smaller than the gradient of the stream."""
        large = ops.tanh(ops.matmul(given, self.direction)) * _LARGE
        return self.stream(x) + ops.matmul(large * (1.0 / _LARGE), self.values)


class Positions(HazardGroup):
    """How far two positions (N, 2) of 40,000 and more lie apart."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(1, WIDTH, deviation=0.3)

    def construct(self, x, positions):
        """Neighbours in float16 lie 32 apart there, the two positions up to 15."""
        apart = positions[:, 1:2] - positions[:, 0:1]
        return self.stream(x) + ops.matmul(apart * 0.2 - 1.5, self.values)


class Saturation(HazardGroup):
    """How far a sigmoid is from 1, at scores (N, 1) of 9 and more."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(1, WIDTH, deviation=0.3)

    def construct(self, x, scores):
        """In float16 the sigmoid is 1 there."""
        left = 1.0 - ops.sigmoid(scores)
        return self.stream(x) + ops.matmul(left * 3e4 - 1.5, self.values)


class Variance(HazardGroup):
    """The variance of values (N, S) around 100, as mean of squares less square of mean."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(1, WIDTH, deviation=0.3)
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x, given):
        """Neighbours in float16 lie 8 apart at 10,000; the variance is 0.2 to 4."""
        mean = self.mean(given, 1)
        variance = self.mean(given * given, 1) - mean * mean
        return self.stream(x) + ops.matmul(variance - 1.7, self.values)
