"""Whether the user's own code casts: MindSpore then drops casts from the graph that hooks still see."""

import types
from collections.abc import Iterator
from typing import Any

from mindspore import nn, ops

from ...policies.rewrite.network_outline import named_cells

_CASTS = frozenset(
    ["astype", "bfloat16", "cast", "float", "half", "mixed_precision_cast", "to", "type_as"],
)


def writes_casts(network: nn.Cell) -> bool:
    """Whether a Cell of the user's, this one or one below it, names a cast in its `construct` or what that calls.

    MindSpore's own layers don't count: none of them casts what it gives. Told from the names in the compiled
    code, so a cast that only looks like one (`float(...)` of a Python number) counts as well.
    """
    users = (cell for _, cell in named_cells(network) if not _is_mindspores(type(cell)))
    return any(_is_cast(name, value) for cell in users for name, value in _names(cell))


def _is_cast(name: str, value: Any) -> bool:
    return name in _CASTS or isinstance(value, ops.Cast)


def _names(cell: nn.Cell) -> Iterator[tuple[str, Any]]:
    """Every name in the Cell's construct and in the user's functions that it calls, with what it stands for."""
    front: list[Any] = [type(cell).construct]
    seen: set[types.CodeType] = set()
    while front:
        function = front.pop()
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType) or _is_mindspores(function) or function.__code__ in seen:
            continue
        for code in _codes(function.__code__):
            seen.add(code)
            for name in code.co_names:
                value = function.__globals__.get(name, getattr(cell, name, None))
                yield name, value
                front.append(value)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those of the functions written inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _is_mindspores(thing: Any) -> bool:
    return (thing.__module__ or "").startswith("mindspore.")
