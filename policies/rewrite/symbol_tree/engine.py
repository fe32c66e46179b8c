"""Applies a policy by casts written into the constructs of a network."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.ops import Primitive

from ...errors import InputError
from ...policy import Policy
from ...regions import region_of
from ...resolve import Assignment
from ..function_keys import rejoin, separate
from ..network_outline import named_cells
from ..own_class import give_own_class_back, own_classes, put_class
from ..patterns.code import CannotRead
from .rewritten_class import CastClass, class_with_casts
from .wanted import Wanted, wanted_of

_SHOWN = 5


class SymbolTreeEngine:
    """Writes casts into constructs with `mindspore.rewrite`, and refuses what that cannot take."""

    def prepared(self, network: nn.Cell, assignments: Sequence[Assignment], policy: Policy) -> Callable[[], None]:
        """Write a class with casts for each Cell.

        Raises:
            InputError: a Cell's code cannot be rewritten; each such place is named with the reason.
        """
        cells = dict(named_cells(network))
        several = len({region_of(assignment, policy) for assignment in assignments}) > 1
        with own_classes(cells.values()):
            made = written_classes(cells, assignments, policy)

        def put() -> None:
            for path, written in made.items():
                if written.kind is not None:
                    put_class(cells[path], written.kind)
            # A function's copies for several layers would otherwise carry the source positions of one of them, and
            # no evidence could tell which layer computes what.
            if several:
                separate(network)

        return put

    def take_off(self, network: nn.Cell) -> None:
        """Give each Cell its own class back."""
        for _, cell in named_cells(network):
            give_own_class_back(cell)
        rejoin(network)


def written_classes(
    cells: Mapping[str, nn.Cell], assignments: Sequence[Assignment], policy: Policy
) -> dict[str, CastClass]:
    """The class of each Cell with casts in it, by path; nothing is touched.

    Raises:
        InputError: as `SymbolTreeEngine.prepared`.
    """
    known: dict[object, CastClass] = {}
    found: dict[str, CastClass] = {}
    refused: dict[str, str] = {}
    for assignment in assignments:
        cell, wanted = cells[assignment.path], wanted_of(assignment, policy)
        key = _key(cell, wanted)
        if not _runs_code(cell):
            continue
        try:
            if key not in known:
                known[key] = class_with_casts(cell, wanted)
            found[assignment.path] = known[key]
        except CannotRead as error:
            refused.setdefault(f"{error.where}: {error}", assignment.path)
    if refused:
        raise InputError(_refusal(refused))
    return found


def _runs_code(cell: nn.Cell) -> bool:
    """Containers only hold and call their Cells."""
    return type(cell).construct not in (nn.Cell.construct, nn.SequentialCell.construct)


def _refusal(refused: Mapping[str, str]) -> str:
    lines = [f"  layer {path or 'the network itself'} ({words})" for words, path in refused.items()]
    more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    head = "the symbol-tree engine cannot write casts into this network, which is left as it was:"
    return "\n".join([head, *lines[:_SHOWN], *more])


def _key(cell: nn.Cell, wanted: Wanted) -> object:
    """What Cells must share to share a class: code, what is asked, and all that tells what their code calls."""
    held = tuple(sorted((name, _kind(value)) for name, value in {**vars(cell), **_held(cell)}.items()))
    return type(cell), type(cell).construct, wanted.key, held


def _held(cell: nn.Cell) -> dict[str, Any]:
    return {**cell._params, **cell._primitives, **cell._cells}


def _kind(value: Any) -> str:
    """What of an attribute's value may change the code that is written."""
    if isinstance(value, nn.CellList | nn.SequentialCell | nn.CellDict):
        return "cells"
    if isinstance(value, nn.Cell):
        return "cell"
    if isinstance(value, Primitive):
        return value.name
    if isinstance(value, ms.Tensor):
        return "tensor"
    if callable(value):
        return f"{type(value).__name__} {id(value)}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} of {','.join(map(_kind, value))}"
    return type(value).__name__
