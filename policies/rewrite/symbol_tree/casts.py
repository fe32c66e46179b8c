"""The casts that stand in rewritten constructs, and the names that they have there."""

from collections.abc import Mapping
from typing import Any

import mindspore as ms
from mindspore import ops

CAST = "cast_floats"
WIDEST = "widest"
TENSOR = "Tensor"

PROMOTED = frozenset(
    {"AddN", "Addcdiv", "Addcmul", "BiasAdd", "Concat", "Cross", "Dot", "GridSampler2D", "GridSampler3D"}
)
"""What autocast gives its inputs in the widest of their types, where it is on no list: MindSpore's promote list."""

# Called with a precision and a value: casts a tensor of floats, and those in a tuple; gives all else back.
cast_floats: Any = ops.mixed_precision_cast


# Graph mode reads this function's source: it stands at module level.
def widest(*values: Any) -> Any:
    """The precision that holds all tensors of floats among the values, and among those in tuples."""
    found = None
    for value in values:
        for each in value if isinstance(value, (tuple, list)) else (value,):  # noqa: UP038
            if isinstance(each, ms.Tensor) and each.dtype in (ms.float32, ms.float16, ms.bfloat16):
                found = each.dtype if found is None or found == each.dtype else ms.float32
    return ms.float32 if found is None else found


EXTRA: Mapping[str, object] = {
    CAST: cast_floats,
    WIDEST: widest,
    TENSOR: ms.Tensor,
    "float32": ms.float32,
    "float16": ms.float16,
    "bfloat16": ms.bfloat16,
}
"""What each name stands for that a rewritten function is given besides its own."""
