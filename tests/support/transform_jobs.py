"""What tests of the shipped transforms run in fresh processes; every function takes and returns plain data."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from halfwise.evaluators.device import use_device
from halfwise.policies import Mode
from halfwise.policies.rewrite.patterns import rewrite
from halfwise.policies.rewrite.transforms import (
    FiniteWatch,
    clip_gradients_by_norm,
    clip_gradients_by_value,
    fold_batchnorm,
    precision_groups,
)


class Three(nn.Cell):
    """Three Dense layers, the last two in a SequentialCell."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 3)
        self.relu = nn.ReLU()
        self.rest = nn.SequentialCell(nn.Dense(3, 3), nn.Tanh(), nn.Dense(3, 2), nn.Softmax())

    def construct(self, x):
        """(N, 4) to (N, 2)."""
        return self.rest(self.relu(self.first(x)))


def _inputs() -> ms.Tensor:
    return ms.Tensor(np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))


def folded(group: int, has_bias: bool) -> dict[str, Any]:
    """Weight and bias of a folded convolution, and the numbers that it was made of."""
    use_device("CPU", "pynative")
    random = np.random.default_rng(group)
    convolution = nn.Conv2d(4, 6, 3, group=group, has_bias=has_bias)
    network = nn.SequentialCell(convolution, nn.BatchNorm2d(6, eps=1e-3))
    for parameter in network.get_parameters():
        parameter.set_data(ms.Tensor(random.uniform(0.2, 2.0, parameter.shape).astype(np.float32)))
    image = ms.Tensor(random.normal(size=(2, 4, 5, 5)).astype(np.float32))
    in_training = rewrite(network.set_train(True), [fold_batchnorm], [image]).report
    norm = network[1]
    found = rewrite(network.set_train(False), [fold_batchnorm], [image])
    made = found.network[0]
    return {
        "in training": [left.reason for left in in_training.left],
        "layers": [type(layer).__name__ for layer in found.network.cell_list],
        "difference": found.equality.largest_difference if found.equality else None,
        "weight": made.weight.asnumpy().tolist(),
        "bias": made.bias.asnumpy().tolist(),
        "names": [parameter.name for parameter in found.network.get_parameters()],
        "before": {
            "weight": convolution.weight.asnumpy().tolist(),
            "bias": convolution.bias.asnumpy().tolist() if has_bias else [0.0] * 6,
            **{
                name: getattr(norm, name).asnumpy().tolist()
                for name in ("gamma", "beta", "moving_mean", "moving_variance")
            },
        },
    }


def clipped(mode: Mode, kind: str, limit: float) -> dict[str, Any]:
    """A Dense layer's output and weight gradient with and without a clip behind it, and what comes in."""
    use_device("CPU", mode)
    dense = nn.Dense(4, 3, has_bias=False)
    network = nn.SequentialCell(dense, nn.Flatten())
    x, come_in = _inputs(), np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    rule = {"value": clip_gradients_by_value, "norm": clip_gradients_by_norm}[kind](limit, nn.Dense)
    rewritten = rewrite(network, [rule], [x]).network
    weighted = ms.Tensor(come_in)

    def gradient(model: nn.Cell) -> list[Any]:
        def loss(inputs):
            return (model(inputs) * weighted).sum()

        return ms.grad(loss, None, dense.trainable_params())(x)[0].asnumpy().tolist()

    return {
        "outputs": [network(x).asnumpy().tobytes().hex(), rewritten(x).asnumpy().tobytes().hex()],
        "plain": gradient(network),
        "clipped": gradient(rewritten),
        "x": x.asnumpy().tolist(),
        "come in": come_in.tolist(),
    }


def clipped_in_float16(mode: Mode) -> dict[str, Any]:
    """The 2-norm of a float16 gradient whose squares overflow in float16, clipped to 10; and its type."""
    use_device("CPU", mode)
    network = nn.SequentialCell(nn.ReLU(), nn.Flatten())
    x = ms.Tensor(np.ones((2, 8), np.float16))
    rewritten = rewrite(network, [clip_gradients_by_norm(10.0, nn.ReLU)], [x]).network

    def loss(inputs):
        return (rewritten(inputs) * ms.Tensor(300.0, ms.float16)).sum()

    gradient = ms.grad(loss)(x)
    return {"norm": float(np.linalg.norm(gradient.asnumpy().astype(np.float64))), "type": str(gradient.dtype)}


def first_non_finite(mode: Mode) -> dict[str, Any]:
    """What a watch over Dense layers says: at rest, after layers break, in training, and after a reset."""
    use_device("CPU", mode)
    network, watch, x = Three(), FiniteWatch(), _inputs()
    rewritten = rewrite(network, [watch.rule(nn.Dense)], [x]).network
    said = {"at rest": watch.first()}
    good = network.rest[0].weight.asnumpy().copy()
    rewritten(x)
    said["all finite"] = watch.first()
    network.rest[2].weight.set_data(ms.Tensor(np.full((2, 3), np.inf, np.float32)))
    rewritten(x)
    said["last broken"] = watch.first()
    network.rest[0].weight.set_data(ms.Tensor(np.full((3, 3), np.nan, np.float32)))
    rewritten(x)
    said["an earlier one later"] = watch.first()
    watch.reset()

    def loss(inputs):
        return ops.square(rewritten(inputs)).sum()

    ms.value_and_grad(loss, None, network.trainable_params())(x)
    said["in training"] = watch.first()
    network.rest[0].weight.set_data(ms.Tensor(good))
    watch.reset()
    said["reset"] = watch.first()
    return said


def groups() -> list[list[str]]:
    """The precision groups of `Three`."""
    use_device("CPU", "pynative")
    return [list(group) for group in precision_groups(Three())]
