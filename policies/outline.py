"""What the resolver needs to know of a network: its Cells, by name and class."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CellOutline:
    """One Cell: its path in the user's network ("" is the network itself) and its classes.

    `aliases` are the other paths of a Cell that is used under several names. `type_names` follow the
    method resolution order, nearest first: "nn.LayerNorm" for MindSpore's classes, the bare name for others.
    """

    path: str
    aliases: tuple[str, ...]
    type_names: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every path of this Cell."""
        return (self.path, *self.aliases)


@dataclass(frozen=True)
class NetworkOutline:
    """All Cells of a network, the network itself among them."""

    cells: tuple[CellOutline, ...]
