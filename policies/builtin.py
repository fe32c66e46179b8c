"""The policies that have a name: MindSpore's own mixed-precision levels, and the presets.

The lists are those of MindSpore 2.10's `mindspore.train.amp` (Copyright 2020-2024 Huawei Technologies Co.,
Ltd, Apache-2.0): AMP_WHITE_LIST is O1, AMP_BLACK_LIST is O2, AMP_AUTO_WHITE_LIST and AMP_AUTO_BLACK_LIST are
auto.
"""

from collections.abc import Mapping
from types import MappingProxyType

from .loss_scaling import NoLossScaling
from .ops import GRAPH_NAMES
from .policy import OpLists, Policy
from .presets import PRESETS

_O1_LAYERS = (
    *("nn.Conv1d", "nn.Conv2d", "nn.Conv3d"),
    *("nn.Conv1dTranspose", "nn.Conv2dTranspose", "nn.Conv3dTranspose"),
    *("nn.Dense", "nn.LSTMCell", "nn.RNNCell", "nn.GRUCell"),
)
_O1_OPS = (
    *("Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "Conv2DBackpropInput"),
    *("MatMul", "BatchMatMul", "PReLU", "ReLU", "Ger"),
)
# A rule for `MatMul` governs its variants too, but MindSpore's list names this one primitive: a product by
# `ops.matmul` is another one, and stays in float32.
_O1_OTHER_OPS = tuple(variant for op in _O1_OPS for variant in GRAPH_NAMES.get(op, ()))
_O2_LAYERS = ("nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "nn.LayerNorm")
_AUTO_WHITE_LIST = (
    *("Conv2D", "Conv3D", "Conv2DExt", "Conv3DExt", "ConvTranspose2D", "Conv2DTranspose", "Conv3DTranspose"),
    *("Convolution", "MatMul", "MatMulExt", "BatchMatMul", "BatchMatMulExt", "PReLU", "Einsum", "Dense"),
    *("Addmm", "Addbmm", "Addmv", "Baddbmm", "Mv"),
)
_AUTO_BLACK_LIST = (
    *("Pow", "ACos", "Asin", "Cosh", "Erfinv", "Exp", "Expm1", "Log", "Log10", "Log1p", "Log2", "Reciprocal"),
    *("Rsqrt", "Sinh", "Tan", "Softplus", "SoftplusExt"),
    *("LayerNorm", "LayerNormExt", "BatchNorm", "BatchNormExt", "GroupNorm", "Norm"),
    *("KLDivLoss", "SmoothL1Loss", "MultilabelMarginLoss", "SoftMarginLoss", "TripletMarginLoss"),
    *("MultiMarginLoss", "BCEWithLogitsLoss", "L1LossExt", "MSELossExt", "NLLLoss", "NLLLoss2d"),
    *("Pdist", "Cdist", "Renorm", "ReduceProd", "Softmax", "LogSoftmax", "LogSoftmaxExt"),
    *("CumProd", "CumSum", "CumsumExt", "ProdExt", "SumExt"),
)

LEVELS: Mapping[str, Policy] = MappingProxyType(
    {
        "O0": Policy(default="float32", loss_scaling=NoLossScaling()),
        "O1": Policy(
            default="float32",
            layers={
                **dict.fromkeys(_O1_LAYERS, "float16"),
                **dict.fromkeys((f"**::{op}" for op in _O1_OPS), "float16"),
                **dict.fromkeys((f"**::{op}" for op in _O1_OTHER_OPS), "float32"),
            },
        ),
        "O2": Policy(default="float16", layers=dict.fromkeys(_O2_LAYERS, "float32")),
        "O3": Policy(default="float16"),
        "auto": Policy(default="auto", ops=OpLists(white_list=_AUTO_WHITE_LIST, black_list=_AUTO_BLACK_LIST)),
    }
)

BUILTIN: Mapping[str, Policy] = MappingProxyType({**LEVELS, **PRESETS})
