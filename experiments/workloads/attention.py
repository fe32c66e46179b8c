"""Attention in several heads, as the built-in transformers share it."""

from mindspore import nn, ops


class HeadedAttention(nn.Cell):
    """Queries, keys, values and an output, each a Dense layer; the subclass says what is added to the scores."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.output = nn.Dense(width, width)

    def split_heads(self, x):
        """(N, T, width) to (N, heads, T, width / heads)."""
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).swapaxes(1, 2)

    def attend(self, x, addend):
        """Mix the values of the keys that each query may see: (N, T, width) to the same."""
        query = self.split_heads(self.query(x))
        key = self.split_heads(self.key(x))
        value = self.split_heads(self.value(x))
        scores = ops.matmul(query, key.swapaxes(2, 3)) * self.scale
        mixed = ops.matmul(ops.softmax(scores + addend, -1), value)
        return self.output(mixed.swapaxes(1, 2).reshape(x.shape))
