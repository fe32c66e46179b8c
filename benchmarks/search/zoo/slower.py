"""Groups that float16 makes slower: what has to be cast is more than what is computed."""

from mindspore import ops

from .cells import WIDTH, SideGroup, weight


class Summary(SideGroup):
    """The mean of a wide input (N, S) in float32, which is read once."""

    def __init__(self, side: int):
        super().__init__()
        self.values = weight(1, WIDTH, deviation=0.03)
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x, wide):
        """Low, the input is read, written in half the width and read again."""
        return x * self.gain + ops.matmul(self.mean(wide, 1), self.values)


class Lookup(SideGroup):
    """Rows of a given table, which is not trained, by the sample's number (N,)."""

    def __init__(self, rows: int):
        super().__init__()
        self.table = weight(rows, WIDTH, deviation=0.01)
        self.table.requires_grad = False

    def construct(self, x, numbers):
        """Low, the whole table is cast to take a few rows of it."""
        return x * self.gain + ops.gather(self.table, numbers, 0)
