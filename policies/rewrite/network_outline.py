"""Reads what a policy's rules can speak about off a MindSpore network: Cells, their names and types."""

from mindspore import nn

from ..outline import CellOutline, NetworkOutline

CONTAINERS = (nn.CellList, nn.SequentialCell, nn.CellDict)


def read_outline(network: nn.Cell) -> NetworkOutline:
    """The network's Cells in the order of their first names; the network itself has the path "".

    A Cell that is used under several names appears once, with the other names as aliases. Types are listed
    nearest first: "nn.LayerNorm" for MindSpore's own layers, the bare class name for the user's.
    """
    names: dict[int, list[str]] = {}
    for path, cell in named_cells(network):
        names.setdefault(id(cell), []).append(path)
    cells = {id(cell): cell for _, cell in named_cells(network)}
    return NetworkOutline(
        cells=tuple(
            CellOutline(path=paths[0], aliases=tuple(paths[1:]), type_names=_type_names(cells[key]))
            for key, paths in names.items()
        )
    )


def named_cells(network: nn.Cell, prefix: str = "") -> list[tuple[str, nn.Cell]]:
    """Every (path, Cell) below and including `network`, a shared Cell once for each of its names.

    MindSpore's own `cells_and_names` lists a shared Cell under its first name only.
    """
    found = [(prefix, network)]
    for name, child in network._cells.items():
        if child is not None:
            found += named_cells(child, f"{prefix}.{name}" if prefix else name)
    return found


def _type_names(cell: nn.Cell) -> tuple[str, ...]:
    names = []
    for kind in type(cell).__mro__:
        if kind is nn.Cell:
            break
        own = kind.__module__.startswith("mindspore.nn")
        names.append(f"nn.{kind.__name__}" if own else kind.__name__)
    # A rewritten class is a subclass of the original under the same name.
    return tuple(dict.fromkeys(names))
