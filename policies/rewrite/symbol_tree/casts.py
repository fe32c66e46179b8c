"""The casts that stand in rewritten constructs, and the names that they have there."""

from collections.abc import Mapping
from typing import Any

import mindspore as ms
from mindspore import ops

CAST = "cast_floats"
CAST_IN_BRANCH = "cast_floats_in_branch"
WIDEST = "widest"
TENSOR = "Tensor"

PROMOTED = frozenset(
    {"AddN", "Addcdiv", "Addcmul", "BiasAdd", "Concat", "Cross", "Dot", "GridSampler2D", "GridSampler3D"}
)
"""What autocast gives its inputs in the widest of their types, if no list names it: MindSpore's promote list."""

# Called with a precision and a value: casts a tensor of floats, and those in a tuple; gives all else back.
cast_floats: Any = ops.mixed_precision_cast


# Graph mode reads these functions' sources: they stand at module level.
def cast_floats_in_branch(precision: Any, value: Any) -> Any:
    """`cast_floats` where the value is made outside of a branch or loop and the call stands inside.

    There MindSpore 2.10 cannot compile the cast itself if it has nothing to cast ("Forward orig_node to different
    func_graph"), as for the ids of an embedding.
    """
    return ops.mixed_precision_cast(precision, value)


def widest(*values: Any) -> Any:
    """The precision that holds all tensors of floats among the values, and among those in tuples."""
    found = None
    for value in values:
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, ms.Tensor) and each.dtype in (ms.float32, ms.float16, ms.bfloat16):
                found = each.dtype if found is None or found == each.dtype else ms.float32
    return ms.float32 if found is None else found


EXTRA: Mapping[str, object] = {
    CAST: cast_floats,
    CAST_IN_BRANCH: cast_floats_in_branch,
    WIDEST: widest,
    TENSOR: ms.Tensor,
    "float32": ms.float32,
    "float16": ms.float16,
    "bfloat16": ms.bfloat16,
}
"""What each name stands for that a rewritten function is given besides its own."""
