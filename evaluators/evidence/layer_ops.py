"""The ops that MindSpore's own layers run, by the class of the layer: what hooks cannot see."""

from collections.abc import Mapping
from types import MappingProxyType

_BIASED = MappingProxyType(
    {
        "nn.Dense": "MatMul",
        "nn.Conv1d": "Conv2D",
        "nn.Conv2d": "Conv2D",
        "nn.Conv3d": "Conv3D",
        "nn.Conv2dTranspose": "Conv2DTranspose",
    }
)
_SINGLE: Mapping[str, str] = MappingProxyType(
    {
        "nn.AvgPool2d": "AvgPool",
        "nn.BatchNorm1d": "BatchNorm",
        "nn.BatchNorm2d": "BatchNorm",
        "nn.Dropout": "Dropout",
        "nn.ELU": "Elu",
        "nn.Embedding": "Gather",
        "nn.FastGelu": "FastGeLU",
        "nn.GELU": "GeLU",
        "nn.GroupNorm": "GroupNorm",
        "nn.HSwish": "HSwish",
        "nn.LayerNorm": "LayerNorm",
        "nn.LogSoftmax": "LogSoftmax",
        "nn.MaxPool2d": "MaxPool",
        "nn.Mish": "Mish",
        "nn.PReLU": "PReLU",
        "nn.ReLU": "ReLU",
        "nn.ReLU6": "ReLU6",
        "nn.SiLU": "SiLU",
        "nn.Sigmoid": "Sigmoid",
        "nn.Softmax": "Softmax",
        "nn.Tanh": "Tanh",
    }
)


def ops_of_layer(type_name: str, has_bias: bool) -> tuple[str, ...]:
    """The ops with a precision, in order, of a layer of that class; empty for a class that isn't in the table.

    The last one decides what the layer gives. Checked by a test against the compiled graph of these layers.
    """
    if type_name in _BIASED:
        return (_BIASED[type_name], "BiasAdd") if has_bias else (_BIASED[type_name],)
    return (_SINGLE[type_name],) if type_name in _SINGLE else ()
