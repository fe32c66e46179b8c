"""The usual advice for two kinds of networks, as policies; docs/suggest.md has the evidence for each line.

Sources: Micikevicius et al., Mixed Precision Training, ICLR 2018 (norms, softmax and losses in float32, products
in float16); NVIDIA's guide to mixed precision; the op lists of PyTorch's autocast and of MindSpore's amp.
"""

from collections.abc import Mapping
from types import MappingProxyType

from .policy import Policy

_NORMS = (
    *("nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "nn.SyncBatchNorm", "nn.LayerNorm"),
    *("nn.GroupNorm", "nn.InstanceNorm1d", "nn.InstanceNorm2d", "nn.InstanceNorm3d"),
)
# A product of two activations has other names than one with a weight, which is MatMul. Mask and scale of scores
# are written with the element-wise ones; sums go low, or all that is added to a stream would be float32.
_SCORES = ("BatchMatMul", "MatMulExt", "Mul", "Div", "Sub", "MaskedFill", "Exp", "Softmax", "LogSoftmax")
_NORM_OPS = ("LayerNorm", "RmsNorm")

PRESETS: Mapping[str, Policy] = MappingProxyType(
    {
        # A loss stays in float32 under any policy that does not name it.
        "cv": Policy(default="float16", layers=dict.fromkeys(_NORMS, "float32")),
        "nlp": Policy(
            default="float16",
            layers={
                **dict.fromkeys((*_NORMS, "nn.Embedding", "nn.EmbeddingLookup"), "float32"),
                **dict.fromkeys((f"**::{op}" for op in (*_SCORES, *_NORM_OPS)), "float32"),
            },
        ),
    }
)
