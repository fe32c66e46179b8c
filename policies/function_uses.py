"""Which functions graph mode must compile once for each use, so that regions hold: see decision 005."""

COMPUTING = (
    "mindspore.ops.",
    "mindspore.graph._parse.standard_method",
    "mindspore._extends.parse.standard_method",
    "mindspore.mint",
    "mindspore.nn.functional",
)
"""Modules of MindSpore whose functions compute with floats."""

PLUMBING = ("mindspore.ops._utils", "mindspore.ops.composite")
"""Modules of MindSpore whose functions hold no op that a region lists."""

WITHOUT_FLOATS = frozenset(
    {
        "bool_",
        "list_append",
        "ms_len",
        "shape",
        "size_",
        "list_len",
        "tuple_len",
        "str_bool",
        "all",
        "tensor_all",
        "isfinite",
        "zeros_like",
    }
)
"""MindSpore's questions about shapes and values, by name.

No op of theirs is in a region's lists, and there are many of them: the step asks `isfinite` of every gradient, and
gradients begin as `zeros_like`.
"""
