"""The two ways to put a policy onto a network: autocast regions, and casts written into its constructs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from mindspore import nn

from ..policy import Policy
from ..regions import region_of
from ..resolve import Assignment
from . import adapter
from .function_keys import rejoin, separate
from .network_outline import named_cells
from .symbol_tree import SymbolTreeEngine

EngineName = Literal["regions", "symbol-tree"]
Put = Callable[[], None]
"""Puts onto a network what was prepared for it."""


class Engine(Protocol):
    """Puts a policy onto a network in place, and takes it off again."""

    def prepared(self, network: nn.Cell, assignments: Sequence[Assignment], policy: Policy) -> Put:
        """Check everything and touch nothing; what is returned makes each Cell compute as its assignment asks.

        Raises:
            InputError: the policy cannot be put onto this network.
        """
        ...

    def take_off(self, network: nn.Cell) -> None:
        """Give the original back; a network without a policy of this engine's is left as it is."""
        ...


class RegionsEngine:
    """Sets an autocast region on each Cell: MindSpore casts in front of each op while it runs or compiles."""

    def prepared(self, network: nn.Cell, assignments: Sequence[Assignment], policy: Policy) -> Put:
        """Work the regions out.

        Raises:
            InputError: a Cell is asked for float16 and bfloat16 both.
        """
        adapter.verify()
        cells = dict(named_cells(network))
        regions = {assignment.path: region_of(assignment, policy) for assignment in assignments}

        def put() -> None:
            for path, region in regions.items():
                adapter.set_region(cells[path], region)
            if len(set(regions.values())) > 1:
                separate(network)

        return put

    def take_off(self, network: nn.Cell) -> None:
        """Clear the regions."""
        for _, cell in named_cells(network):
            adapter.clear_region(cell)
        rejoin(network)


ENGINES: Mapping[EngineName, Engine] = {"regions": RegionsEngine(), "symbol-tree": SymbolTreeEngine()}
"""Each engine by its name."""
