"""Rules that clip the gradient of a layer's output on its way back; what the layer gives stays as it is."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from ...errors import InputError
from ..patterns import Followed, Rule, chain


class GradientClip(nn.Cell):
    """Gives what it gets; the gradient that comes back goes through `clip`."""

    def __init__(self, clip: Callable[[Any], Any]):
        super().__init__()
        self.insert = ops.InsertGradientOf(clip)

    def construct(self, x):
        """Any tensor to itself."""
        return self.insert(x)


def clip_gradients_by_value(limit: float, layer: type[nn.Cell]) -> Rule:
    """Hold each number of the gradient of the output of `layer`s within -limit to limit.

    The gradient is the one that is there in training: with loss scaling it is that many times larger.

    Raises:
        InputError: the limit is no positive number.
    """
    _check(limit)

    def clip(gradient):
        return ops.clamp(gradient, -limit, limit)

    return _rule("clip-value", layer, clip)


def clip_gradients_by_norm(limit: float, layer: type[nn.Cell]) -> Rule:
    """Scale the gradient of the output of `layer`s down to the 2-norm `limit` where it is longer.

    The norm is over the whole tensor, batch included, and is worked out in float32, as a float16 sum of squares
    overflows at 65,504. The gradient is the one that is there in training: with loss scaling it is that many
    times larger. A gradient that is not finite stays so.

    Raises:
        InputError: the limit is no positive number.
    """
    _check(limit)

    def clip(gradient):
        wide = gradient.astype(ms.float32)
        norm = ops.sqrt(ops.square(wide).sum())
        return (wide * (limit / ops.maximum(norm, limit))).astype(gradient.dtype)

    return _rule("clip-norm", layer, clip)


def _rule(name: str, layer: type[nn.Cell], clip: Callable[[Any], Any]) -> Rule:
    return Rule(name, chain(layer), lambda match: Followed(GradientClip(clip)))


def _check(limit: float) -> None:
    if not 0 < limit < float("inf"):
        raise InputError(f"a limit of gradients must be a positive number, but got {limit}")
