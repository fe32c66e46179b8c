"""Groups with a bypass that lose nothing in float16."""

from mindspore import ops

from .cells import WIDTH, Group, constant, rotation, weight

_HEADS = 8
_IMAGE = (4, 4, 4)


class Dense(Group):
    """x + relu(x A + b)."""

    def __init__(self):
        super().__init__()
        self.matrix = weight(WIDTH, WIDTH, deviation=0.03)
        self.bias = constant(WIDTH, 0.0)

    def construct(self, x):
        """One product."""
        return x + ops.relu(ops.matmul(x, self.matrix) + self.bias)


class Gated(Group):
    """x + tanh(x A) * sigmoid(x B)."""

    def __init__(self):
        super().__init__()
        self.matrix = weight(WIDTH, WIDTH, deviation=0.03)
        self.gate = weight(WIDTH, WIDTH, deviation=0.03)

    def construct(self, x):
        """Two products."""
        return x + ops.tanh(ops.matmul(x, self.matrix)) * ops.sigmoid(ops.matmul(x, self.gate))


class NormDense(Group):
    """x + layer_norm(x) A."""

    def __init__(self):
        super().__init__()
        self.gain = constant(WIDTH, 1.0)
        self.shift = constant(WIDTH, 0.0)
        self.matrix = weight(WIDTH, WIDTH, deviation=0.03)
        self.normalise = ops.LayerNorm(1, 1, 1e-5)

    def construct(self, x):
        """A normalisation and a product."""
        return x + ops.matmul(self.normalise(x, self.gain, self.shift)[0], self.matrix)


class MLP(Group):
    """x + relu(x A) B, twice as wide between."""

    def __init__(self):
        super().__init__()
        self.up = weight(WIDTH, 2 * WIDTH, deviation=0.1)
        self.down = weight(2 * WIDTH, WIDTH, deviation=0.02)

    def construct(self, x):
        """Two products."""
        return x + ops.matmul(ops.relu(ops.matmul(x, self.up)), self.down)


class Convolution(Group):
    """x + relu(convolved x), the stream read as 4 channels of 4 x 4."""

    def __init__(self):
        super().__init__()
        channels = _IMAGE[0]
        self.kernel = weight(channels, channels, 3, 3, deviation=0.03)
        self.convolve = ops.Conv2D(out_channel=channels, kernel_size=3, pad_mode="same")

    def construct(self, x):
        """One convolution between two reshapes."""
        image = ops.reshape(x, (-1, *_IMAGE))
        return x + ops.reshape(ops.relu(self.convolve(image, self.kernel)), x.shape)


class Attention(Group):
    """x + attention among 8 slices of x."""

    def __init__(self):
        super().__init__()
        self.query = weight(WIDTH, WIDTH, deviation=0.1)
        self.value = weight(WIDTH, WIDTH, deviation=0.03)

    def construct(self, x):
        """Two products, two batched ones and a softmax."""
        shape = (-1, _HEADS, WIDTH // _HEADS)
        query = ops.reshape(ops.matmul(x, self.query), shape)
        key = ops.reshape(x, shape)
        value = ops.reshape(ops.matmul(x, self.value), shape)
        scores = ops.matmul(query, ops.transpose(key, (0, 2, 1))) * 0.3
        return x + ops.reshape(ops.matmul(ops.softmax(scores, -1), value), x.shape)


class Gain(Group):
    """x * a + b, channel by channel: between float32 neighbours it is slower low, since casts cost more."""

    def __init__(self):
        super().__init__()
        self.gain = constant(WIDTH, 1.0)
        self.shift = constant(WIDTH, 0.0)

    def construct(self, x):
        """Two small ops."""
        return x * self.gain + self.shift


class ChainDense(Group):
    """leaky(x A + b), without a bypass."""

    def __init__(self):
        super().__init__()
        self.matrix = rotation(WIDTH, WIDTH)
        self.bias = constant(WIDTH, 0.0)

    def construct(self, x):
        """One product; what lies below 0 keeps most of its size, so that long chains train."""
        y = ops.matmul(x, self.matrix) + self.bias
        return ops.maximum(y, y * 0.8)


class ChainNorm(Group):
    """layer_norm(x A), without a bypass."""

    def __init__(self):
        super().__init__()
        self.matrix = rotation(WIDTH, WIDTH)
        self.gain = constant(WIDTH, 1.0)
        self.shift = constant(WIDTH, 0.0)
        self.normalise = ops.LayerNorm(1, 1, 1e-5)

    def construct(self, x):
        """A product and a normalisation."""
        return self.normalise(ops.matmul(x, self.matrix), self.gain, self.shift)[0]


class ChainMLP(Group):
    """leaky(x A) B, twice as wide between, without a bypass."""

    def __init__(self):
        super().__init__()
        self.up = rotation(WIDTH, 2 * WIDTH)
        self.down = rotation(2 * WIDTH, WIDTH, gain=1.4)

    def construct(self, x):
        """Two products."""
        y = ops.matmul(x, self.up)
        return ops.matmul(ops.maximum(y, y * 0.8), self.down)
