"""Tell handwritten digits: a training script as it stands in many projects."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from sklearn.datasets import load_digits

BATCH_SIZE = 256
STEPS = 1000


class UnitLength(nn.Cell):
    """Bright and dark scans become equal: (N, 64) to vectors of length 1."""

    def construct(self, pixels):
        """Divide by the Euclidean length."""
        return pixels / ops.sqrt((pixels * pixels).sum(-1, keepdims=True))


class Net(nn.Cell):
    """Pixels (N, 64) in 0 to 255 to class scores (N, 10)."""

    def __init__(self):
        super().__init__()
        self.scale = UnitLength()
        self.body = nn.SequentialCell(nn.Dense(64, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU())
        self.head = nn.Dense(512, 10)

    def construct(self, pixels):
        """Scale, and classify."""
        return self.head(self.body(self.scale(pixels)))


def load_data():
    """Pixels and digits to train on, and 360 held out."""
    pixels, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(pixels))
    pixels, digits = (pixels[order] * 255 / 16).astype(np.float32), digits[order].astype(np.int32)
    return (pixels[360:], digits[360:]), (pixels[:360], digits[:360])


def make_loss():
    """Cross entropy."""
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def make_optimizer(parameters):
    """Adam."""
    return nn.Adam(parameters, learning_rate=1e-3)


def accuracy(scores, digits):
    """The share of digits that score highest."""
    return float((scores.argmax(axis=1) == digits).mean())


def main():
    """Train, keep the weights, and say how good they are."""
    ms.set_seed(1)
    (pixels, digits), (held_out_pixels, held_out_digits) = load_data()
    network = Net()
    loss = make_loss()
    optimizer = make_optimizer(network.trainable_params())
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    random = np.random.default_rng(1)
    for _ in range(STEPS):
        rows = random.integers(0, len(pixels), BATCH_SIZE)
        step(ms.Tensor(pixels[rows]), ms.Tensor(digits[rows]))
    ms.save_checkpoint(network, "digits.ckpt")
    network.set_train(False)
    scores = network(ms.Tensor(held_out_pixels)).asnumpy()
    print(f"accuracy {accuracy(scores, held_out_digits):.3f}")


if __name__ == "__main__":
    main()
