"""Copies a network so that it can be rewritten while the user's stays as it is."""

import types
from collections import OrderedDict
from typing import Any

from mindspore import nn

# What MindSpore remembers of a compiled Cell: shared, the copy would drop or reuse the original's graphs.
_FRESH = {
    "_compile_cache": None,
    "_phase_cache": None,
    "_compiled": False,
    "arguments_key": "",
    "is_top_cell": False,
}


def copy_network(network: nn.Cell) -> nn.Cell:
    """A network of new Cells that hold the same Parameters, Tensors and Primitives, by identity.

    So an optimizer over the original's Parameters trains the copy, and statistics, random state and recurrent
    state are one. A shared Cell is one Cell in the copy too. Lists, tuples, sets and dicts are copied, whatever
    else they hold stays the same object. Training flags, hooks and the rest are as they are at this moment; of
    compiled graphs the copy has none.
    """
    return _copied(network, {})


def copy_cell(cell: nn.Cell) -> nn.Cell:
    """A new Cell that holds the same children, Parameters and settings."""
    return _copied(cell, {id(child): child for child in cell._cells.values()})


def _copied(value: Any, known: dict[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, nn.Cell):
        return _copied_cell(value, known)
    if type(value) in (list, tuple, set):
        return type(value)(_copied(each, known) for each in value)
    if type(value) in (dict, OrderedDict):
        return type(value)((key, _copied(each, known)) for key, each in value.items())
    if isinstance(value, types.MethodType) and isinstance(value.__self__, nn.Cell):
        return types.MethodType(value.__func__, _copied(value.__self__, known))
    return value


def _copied_cell(cell: nn.Cell, known: dict[int, Any]) -> nn.Cell:
    kind: Any = type(cell)
    new = kind.__new__(kind)
    known[id(cell)] = new
    base, attributes = cell.__getstate__()
    new.__setstate__((base, {}))
    fresh = {name: value for name, value in _FRESH.items() if name in attributes}
    new.__dict__.update({name: _copied(value, known) for name, value in attributes.items()}, **fresh)
    return new
