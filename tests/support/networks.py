"""Networks that rewriters have stumbled over, each small enough to train in a test."""

import mindspore as ms
from mindspore import nn, ops

WIDTH = 8


class Block(nn.Cell):
    """A Dense layer and functional ops beside it."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return x + ops.tanh(self.dense(x)) * 0.5


class Repeated(nn.Cell):
    """Three blocks of one class, as attributes."""

    def __init__(self):
        super().__init__()
        self.a = Block()
        self.b = Block()
        self.c = Block()

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return self.c(self.b(self.a(x)))


class Sandwich(nn.Cell):
    """Dense, LayerNorm, Dense."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(WIDTH, WIDTH)
        self.norm = nn.LayerNorm((WIDTH,))
        self.second = nn.Dense(WIDTH, WIDTH)

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return self.second(self.norm(self.first(x)))


class Shared(nn.Cell):
    """One LayerNorm under two names."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH)
        self.ln = nn.LayerNorm((WIDTH,))
        self.ln2 = self.ln

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return self.ln2(self.dense(self.ln(x)))


class Tied(nn.Cell):
    """The output layer's weight is the embedding's table."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WIDTH, WIDTH)
        self.head = nn.Dense(WIDTH, WIDTH, has_bias=False)
        self.head.weight = self.embedding.embedding_table

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        ids = ops.argmax(x, dim=1).astype(ms.int32)
        return self.head(self.embedding(ids))


class Listed(nn.Cell):
    """Blocks made in a comprehension, indexed in `construct`."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Block() for _ in range(3)])

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return self.blocks[2](self.blocks[1](self.blocks[0](x)))


class Inherited(Sandwich):
    """Inherits its `construct`."""


def local_class() -> nn.Cell:
    """A network whose class is defined in a function."""

    class Local(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(WIDTH, WIDTH)

        def construct(self, x):
            """(N, 8) to (N, 8)."""
            return self.dense(x)

    return Local()


def same_names() -> nn.Cell:
    """Two different classes of one name in one network."""

    def double():
        class Twin(nn.Cell):
            def construct(self, x):
                return x * 2.0

        return Twin()

    def add():
        class Twin(nn.Cell):
            def construct(self, x):
                return x + 2.0

        return Twin()

    class Pair(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = double()
            self.dense = nn.Dense(WIDTH, WIDTH)
            self.second = add()

        def construct(self, x):
            return self.second(self.dense(self.first(x)))

    return Pair()


class Normalised(nn.Cell):
    """BatchNorm, whose statistics are Parameters that MindSpore refuses to cast."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH)
        self.norm = nn.BatchNorm1d(WIDTH)

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return self.norm(self.dense(x))


class MyNorm(nn.LayerNorm):
    """A user's own LayerNorm."""


class Subclassed(nn.Cell):
    """Holds a subclass of a listed type, and a GroupNorm."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH)
        self.mine = MyNorm((WIDTH,))
        self.group = nn.GroupNorm(2, WIDTH)

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        x = self.mine(self.dense(x))
        return self.group(x.reshape(-1, WIDTH, 1, 1)).reshape(-1, WIDTH)


class Odd(nn.Cell):
    """Layers with names that YAML would read as something else."""

    def __init__(self):
        super().__init__()
        self.on = nn.Dense(WIDTH, WIDTH)
        self.no = nn.Dense(WIDTH, WIDTH)
        self.steps = nn.SequentialCell(nn.Dense(WIDTH, WIDTH), nn.ReLU())

    def construct(self, x):
        """(N, 8) to (N, 8)."""
        return self.steps(self.no(self.on(x)))


NETWORKS = {
    "repeated": Repeated,
    "sandwich": Sandwich,
    "shared": Shared,
    "tied": Tied,
    "listed": Listed,
    "inherited": Inherited,
    "local": local_class,
    "same names": same_names,
    "normalised": Normalised,
    "subclassed": Subclassed,
    "odd names": Odd,
}
