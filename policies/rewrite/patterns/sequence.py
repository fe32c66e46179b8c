"""A SequentialCell, whose layers are called one after the other: the face of a Construct, without a source."""

from collections import OrderedDict
from functools import cached_property

from mindspore import nn

from .flow import Call, Flow, Statement, Step, flow_of
from .match import Found

_VALUE = frozenset({"x"})


class Sequence:
    """The layers of a SequentialCell under the engine's hands; nothing reaches the Cell before `install`."""

    def __init__(self, cell: nn.Cell):
        self.cell = cell
        self._layers: list[tuple[str, nn.Cell]] = list(cell._cells.items())

    @property
    def flow(self) -> Flow:
        """How values flow through it, as it now stands."""
        return self._flow

    @cached_property
    def _flow(self) -> Flow:
        calls = [
            Statement(_VALUE, _VALUE, f"layer {name}", None, Call(layer, f"layer {name}", ("x",), name))
            for name, layer in self._layers
        ]
        return flow_of([*calls, Statement(_VALUE, frozenset(), "the output")], ["x"])

    def names(self, value: int, place: int) -> bool:
        """Whether the value can be had at `place`: what replaces layers gets what the first of them got."""
        return True

    def key(self, step: Step) -> object:
        """What tells the step from others, whatever is edited around it."""
        return step.call.attribute, step.call.callee

    def layers(self) -> dict[str, nn.Cell]:
        """The layers by name, as edited."""
        return dict(self._layers)

    def reads(self, name: str) -> int:
        """How often the layer is called or read: once."""
        return int(name in self.layers())

    def where(self, line: int | None = None) -> str:
        """The class; a SequentialCell has no line of the user's."""
        return type(self.cell).__name__

    def replace(self, found: Found, cell: nn.Cell) -> str:
        """Put `cell` in the place of the match, under the name of its first layer."""
        first, last = found.steps[0].place, found.root.place
        name = self._layers[first][0]
        self._edit([(name, cell)], first, last + 1)
        return name

    def follow(self, step: Step, cell: nn.Cell, suffix: str) -> str:
        """Put `cell` behind the step's layer; its name."""
        name, taken, number = f"{step.call.attribute}_{suffix}", dict(self._layers), 1
        while name in taken:
            number += 1
            name = f"{step.call.attribute}_{suffix}_{number}"
        self._edit([(name, cell)], step.place + 1, step.place + 1)
        return name

    def install(self) -> bool:
        """Give the SequentialCell the edited list; whether anything was edited."""
        if self._layers == list(self.cell._cells.items()):
            return False
        cells = OrderedDict(self._layers)
        self.cell.__dict__["_cells"] = cells
        self.cell.__dict__["cell_list"] = list(cells.values())
        self.cell.__dict__["_is_dynamic_name"] = [False] * len(cells)
        return True

    def _edit(self, layers: list[tuple[str, nn.Cell]], start: int, stop: int) -> None:
        self._layers[start:stop] = layers
        self.__dict__.pop("_flow", None)
