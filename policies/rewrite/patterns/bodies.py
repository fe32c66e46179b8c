"""The constructs and SequentialCells of a network, each read once and edited until they are put in place."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from mindspore import nn

from ...errors import InputError
from ..network_outline import named_cells
from ..own_class import has_other_class
from .code import CannotRead, source_of
from .construct import Construct
from .flow import Flow, Step
from .match import Found
from .places import Places, is_users
from .sequence import Sequence


class Body(Protocol):
    """What the engine asks of a construct or a SequentialCell."""

    cell: nn.Cell

    @property
    def flow(self) -> Flow:
        """How values flow through it, as it now stands."""
        ...

    def layers(self) -> Mapping[str, nn.Cell]:
        """The layers that it would have if it were put in place now, by name."""
        ...

    def key(self, step: Step) -> object:
        """What tells the step from others, whatever is edited around it; held, so that no other takes its id."""
        ...

    def names(self, value: int, place: int) -> bool:
        """Whether a call put at `place` can be given the value."""
        ...

    def reads(self, name: str) -> int:
        """How often the layer of this name is called or read."""
        ...

    def where(self, line: int | None = None) -> str:
        """Class, file and line."""
        ...

    def replace(self, found: Found, cell: nn.Cell) -> str:
        """Put one call of `cell` in the place of the match; the name of the new layer."""
        ...

    def follow(self, step: Step, cell: nn.Cell, suffix: str) -> str:
        """Send the step's output through `cell` before anything reads it; the name of the new layer."""
        ...


class Bodies:
    """The bodies of a network's Cells, by Cell, and the paths of its layers.

    Raises:
        InputError: a Cell has a construct of its own, as under a policy, which may run any other Cells.
    """

    def __init__(self, network: nn.Cell):
        self.network = network
        self.places = Places(network)
        self._paths = {id(cell): path for path, cell in reversed(named_cells(network))}
        self._read: dict[int, Construct | Sequence | CannotRead | None] = {}
        for path, cell in named_cells(network):
            if "construct" in cell.__dict__ or has_other_class(cell):
                raise InputError(
                    f"layer {path or 'the network itself'} has a construct of its own, as under a policy: "
                    "rewrite the network first, then apply the policy"
                )

    def alive(self) -> Iterator[nn.Cell]:
        """Every Cell of the user's that is still part of the network, once, owners first."""
        todo, seen = [self.network], set()
        while todo:
            cell = todo.pop()
            if id(cell) not in self._paths or id(cell) in seen:
                continue
            seen.add(id(cell))
            yield cell
            todo += reversed(self.layers(cell).values())

    def layers(self, cell: nn.Cell) -> dict[str, nn.Cell]:
        """The layers of a Cell by name, as edited."""
        body = self.body(cell)
        layers = cell._cells if body is None or isinstance(body, CannotRead) else body.layers()
        return {name: layer for name, layer in layers.items() if layer is not None}

    def path(self, owner: nn.Cell, name: str) -> str:
        """The path of a layer in the user's network."""
        return f"{self._paths[id(owner)]}.{name}".lstrip(".")

    def body(self, cell: nn.Cell) -> Construct | Sequence | CannotRead | None:
        """The Cell's body; why it cannot be read; or None for a Cell of MindSpore's own that is not rewritten."""
        if id(cell) not in self._read:
            self._read[id(cell)] = self._body(cell)
        return self._read[id(cell)]

    def read_elsewhere(self, body: Body, name: str, layer: object) -> str | None:
        """Where a layer is reached besides one call in `body`, in a user's words, or None."""
        if body.reads(name) > 1:
            return f"by another statement of {body.where()}"
        owners = self.places.owners(layer) if isinstance(layer, nn.Cell) else []
        if len(owners) > 1:
            return f"under another name: {', '.join(self.path(owner, own) for owner, own in owners)}"
        return self.places.read_elsewhere(body.cell, name)

    def install(self) -> str:
        """Put every edited body into its Cell; the source of the new constructs."""
        texts: list[str] = []
        made: dict[tuple[type, str], type[nn.Cell]] = {}
        for cell in list(self.alive()):
            body = self.body(cell)
            if isinstance(body, Sequence):
                body.install()
            elif isinstance(body, Construct) and body.install(made):
                texts.append(f"# {self._paths[id(cell)] or 'the network itself'}\n{source_of(cell)}")
        return "\n\n".join(texts)

    def _body(self, cell: nn.Cell) -> Construct | Sequence | CannotRead | None:
        try:
            if type(cell).construct is nn.SequentialCell.construct:
                return self._sequence(cell)
            return Construct(cell) if is_users(type(cell)) else None
        except CannotRead as error:
            return error

    def _sequence(self, cell: nn.Cell) -> Sequence:
        if not self.places.only_called(cell):
            raise CannotRead(
                "its SequentialCell is not only called as a whole but taken apart, or lies in a list: "
                "give it a name of its own and call that",
                type(cell).__name__,
            )
        return Sequence(cell)
