"""Hazards that end in NaN or infinity in float16; each adds what it makes of an input of its own to the stream."""

from mindspore import ops

from .cells import WIDTH, HazardGroup, weight


class MaskedProduct(HazardGroup):
    """Attention to the entries of a table that the sample's mask (N, S), of 0 and 1, leaves."""

    def __init__(self, side: int):
        super().__init__()
        self.keys = weight(WIDTH, side, deviation=0.1)
        self.values = weight(side, WIDTH, deviation=0.1)

    def construct(self, x, mask):
        """The addend's product is 0 * -1e9 wherever an entry may be seen."""
        addend = (1.0 - mask) * -1e9
        shares = ops.softmax(ops.matmul(x, self.keys) + addend, -1)
        return self.stream(x) + ops.matmul(shares, self.values)


class Square(HazardGroup):
    """Squares of measurements (N, S) up to 2,000."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(side, WIDTH, deviation=0.03)

    def construct(self, x, measurements):
        """The squares reach 4e6 before they are brought to size."""
        squares = measurements * measurements
        return self.stream(x) + ops.matmul(squares * 1e-6, self.values)


class Exponent(HazardGroup):
    """Shares by hand, without the largest value taken off first: scores (N, S) reach 13."""

    def __init__(self, side: int):
        super().__init__()
        self.keys = weight(WIDTH, side, deviation=0.01)
        self.values = weight(side, WIDTH, deviation=0.1)
        self.sum = ops.ReduceSum(keep_dims=True)

    def construct(self, x, scores):
        """exp(13) is 442,413."""
        powers = ops.exp(scores + ops.tanh(ops.matmul(x, self.keys)))
        shares = powers / self.sum(powers, 1)
        return self.stream(x) + ops.matmul(shares, self.values)


class LogEpsilon(HazardGroup):
    """Logarithms of probabilities (N, S), of which some are 0."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(side, WIDTH, deviation=0.03)

    def construct(self, x, probabilities):
        """1e-8 keeps float32 from log(0)."""
        logs = ops.log(probabilities + 1e-8)
        return self.stream(x) + ops.matmul(logs * 0.05, self.values)


class Norm(HazardGroup):
    """The length of vectors (N, S) with entries around 300."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(1, WIDTH, deviation=0.03)
        self.sum = ops.ReduceSum(keep_dims=True)

    def construct(self, x, vectors):
        """The sum of squares reaches 1e6, the length 1e3."""
        lengths = ops.sqrt(self.sum(vectors * vectors, 1))
        return self.stream(x) + ops.matmul(lengths * 1e-3, self.values)


class Reduction(HazardGroup):
    """The sum of many counts (N, S) around 250."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(1, WIDTH, deviation=0.03)
        self.sum = ops.ReduceSum(keep_dims=True)

    def construct(self, x, counts):
        """The sum is around 128,000."""
        totals = self.sum(counts, 1)
        return self.stream(x) + ops.matmul(totals * 1e-5 - 1.28, self.values)
