"""Folds a BatchNorm2d into the convolution before it, for evaluation and export."""

import mindspore as ms
import numpy as np
from mindspore import nn

from ..patterns import Declined, pattern
from ..patterns.copies import copy_cell

TOLERANCE = 1e-5
"""Folding sums in another order: float32 rounding, relative to the output's magnitude."""


@pattern(nn.Conv2d, nn.BatchNorm2d, tolerance=TOLERANCE)
def fold_batchnorm(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> nn.Cell | Declined:
    """One convolution that gives what the two give in evaluation.

    With scale s = gamma / sqrt(variance + eps) for each output channel, its weight is s * W and its bias
    s * (b - mean) + beta. Worked out in float64, held in float32; its two Parameters are new, so train before
    folding, not after. The moving statistics must be in use: set the network to evaluation first.
    """
    uses_batch = norm.training if norm.use_batch_statistics is None else norm.use_batch_statistics
    if uses_batch:
        return Declined("its BatchNorm uses the batch's own statistics: call network.set_train(False) first")
    if convolution.weight.dtype != ms.float32 or norm.gamma.dtype != ms.float32:
        return Declined(f"its weights are {convolution.weight.dtype}, and folding is for Float32")
    if convolution.data_format != norm.format:
        return Declined(f"its convolution is {convolution.data_format}, its BatchNorm {norm.format}")
    folded = copy_cell(convolution)
    weight, bias = _folded_values(convolution, norm)
    folded.weight = ms.Parameter(weight, name=convolution.weight.name)
    folded.bias = ms.Parameter(bias, name=_bias_name(convolution))
    folded.has_bias = True
    return folded


def _folded_values(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> tuple[ms.Tensor, ms.Tensor]:
    scale = _float64(norm.gamma) / np.sqrt(_float64(norm.moving_variance) + norm.eps)
    before = _float64(convolution.bias) if convolution.has_bias else 0.0
    # Output channels come first in either layout.
    weight = _float64(convolution.weight) * scale.reshape(-1, 1, 1, 1)
    bias = scale * (before - _float64(norm.moving_mean)) + _float64(norm.beta)
    return ms.Tensor(weight.astype(np.float32)), ms.Tensor(bias.astype(np.float32))


def _float64(parameter: ms.Parameter) -> np.ndarray:
    return parameter.asnumpy().astype(np.float64)


def _bias_name(convolution: nn.Conv2d) -> str:
    if convolution.has_bias:
        return convolution.bias.name
    return f"{convolution.weight.name.removesuffix('weight')}bias"
