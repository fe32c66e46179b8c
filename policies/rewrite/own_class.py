"""A Cell under another class than its own, and back: how rewritten constructs are put in place."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mindspore import nn

# The attribute that holds the Cell's own class; MindSpore never reads it.
_OWN = "halfwise_own_class"


def put_class(cell: nn.Cell, kind: type[nn.Cell]) -> None:
    """Make the Cell one of this class, and remember its own."""
    changed: Any = cell
    changed.__dict__[_OWN] = type(cell)
    changed.__class__ = kind


def give_own_class_back(cell: nn.Cell) -> None:
    """Undo `put_class`; a Cell under its own class is left as it is."""
    own = cell.__dict__.pop(_OWN, None)
    if own is not None:
        changed: Any = cell
        changed.__class__ = own


def has_other_class(cell: nn.Cell) -> bool:
    """Whether the Cell is under a class that `put_class` gave it."""
    return _OWN in cell.__dict__


@contextmanager
def own_classes(cells: Iterable[nn.Cell]) -> Iterator[None]:
    """All these Cells under their own classes for a while."""
    others = [(cell, type(cell)) for cell in cells if has_other_class(cell)]
    for cell, _ in others:
        give_own_class_back(cell)
    try:
        yield
    finally:
        for cell, kind in others:
            put_class(cell, kind)
