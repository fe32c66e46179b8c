"""Measures whether float32 products are float32's: TF32 and the like show in what they drop."""

import mindspore as ms
import numpy as np
from mindspore import ops

from ...policies.precision import FORMATS
from ..device import use_device
from .result import BitsRequest, Float32Bits

# Large enough for the units that compute products in blocks; a device may treat tiny ones otherwise.
_SIZE = 64


def float32_bits(request: BitsRequest) -> Float32Bits:
    """Multiply by one what has a single far bit, ever further away, until the product drops it."""
    use_device(request.target, "pynative", request.device_id)
    return Float32Bits(matmul=_kept(_matmul), convolution=_kept(_convolution))


def _kept(product) -> int:
    """The last place behind the leading one that comes through."""
    for bit in range(1, FORMATS["float32"].mantissa_bits + 1):
        value = np.float32(1) + np.float32(2.0**-bit)
        if product(value) != value:
            return bit - 1
    return FORMATS["float32"].mantissa_bits


def _matmul(value: np.float32) -> np.float32:
    """The value through a product with the identity."""
    values = np.full((_SIZE, _SIZE), value, np.float32)
    found = ops.MatMul()(ms.Tensor(values), ms.Tensor(np.eye(_SIZE, dtype=np.float32)))
    return found.asnumpy()[0, 0]


def _convolution(value: np.float32) -> np.float32:
    """The value through a convolution that passes each channel on."""
    images = np.full((1, _SIZE, 8, 8), value, np.float32)
    kernel = np.eye(_SIZE, dtype=np.float32).reshape(_SIZE, _SIZE, 1, 1)
    return ops.Conv2D(_SIZE, 1)(ms.Tensor(images), ms.Tensor(kernel)).asnumpy()[0, 0, 0, 0]
