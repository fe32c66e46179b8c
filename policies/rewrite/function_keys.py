"""Keeps a function that several regions call from being compiled once for all of them.

MindSpore's graph mode compiles a Python function (`ops.softmax`, `ops.relu`, a helper of the user's) once for
each combination of argument types. The first region that calls it decides for every later one with the same
types: a layer asked for float32 then computes in float16 without a word. The parser asks `get_object_key` what
tells functions apart, so while a network with regions of more than one kind is alive, each use of a computing
function gets a key of its own. Results of other networks are the same, their compilation a little slower.
Private to MindSpore like the calls in adapter.py, and held by tests through the evidence.
"""

import itertools
import types
import weakref
from collections.abc import Callable
from typing import Any

from mindspore import nn

from ..function_uses import COMPUTING, PLUMBING, WITHOUT_FLOATS

try:
    from mindspore.graph import _parse as _parser
except ImportError:
    # MindSpore 2.8 has its parser elsewhere.
    from mindspore._extends import parse as _parser  # pyright: ignore[reportMissingImports]

PARSER: Any = _parser
"""MindSpore's own; `get_object_key` in it is what is stood in for."""

ObjectKey = Callable[[Any], tuple[str, str]]


class _SeparateUses:
    """Stands in for the parser's `get_object_key` while any of its networks is alive."""

    def __init__(self, original: ObjectKey) -> None:
        self.original = original
        self.networks: weakref.WeakSet[nn.Cell] = weakref.WeakSet()
        self._uses = itertools.count()

    def __call__(self, value: Any) -> tuple[str, str]:
        identity, shared = self.original(value)
        if self.networks and isinstance(value, types.FunctionType) and _computes(value):
            identity = f"{identity}_use{next(self._uses)}"
        return identity, shared


def separate(network: nn.Cell) -> None:
    """Compile functions once for each use as long as `network` is alive, or until `rejoin`."""
    current = PARSER.get_object_key
    if not isinstance(current, _SeparateUses):
        current = _SeparateUses(current)
        PARSER.get_object_key = current
    current.networks.add(network)


def rejoin(network: nn.Cell) -> None:
    """Undo `separate`; MindSpore's own function is back when no such network is left."""
    current = PARSER.get_object_key
    if isinstance(current, _SeparateUses):
        current.networks.discard(network)
        if not current.networks:
            PARSER.get_object_key = current.original


def _computes(function: types.FunctionType) -> bool:
    name, module = function.__name__, function.__module__ or ""
    # A recursive function would get a new key at each of its own calls, for ever.
    without_floats = name in WITHOUT_FLOATS and module.startswith("mindspore.")
    if without_floats or name in function.__code__.co_names or module.startswith(PLUMBING):
        return False
    return not module.startswith("mindspore.") or module.startswith(COMPUTING)
