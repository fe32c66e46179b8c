"""Applies a policy to a network by autocast regions, one for each Cell."""

from dataclasses import dataclass

from mindspore import nn

from ..errors import InputError
from ..policy import Policy
from ..regions import region_of
from ..resolve import Assignment, resolve
from . import adapter
from .function_keys import rejoin, separate
from .network_outline import named_cells, read_outline


@dataclass(frozen=True)
class Rewritten:
    """The network with the policy's regions on it, and what was asked of each Cell by which rule."""

    network: nn.Cell
    assignments: tuple[Assignment, ...]


def apply(policy: Policy, network: nn.Cell) -> Rewritten:
    """Set the policy's regions on `network`, in place of whatever a policy had set on it before.

    Parameters stay the same objects, so an optimizer that holds them keeps working. Everything is checked
    before the first Cell is touched. A training step that was already compiled around the network keeps
    its old graph: build the step after the policy is applied. No input is needed and no graph is compiled.

    Raises:
        InputError: a rule matches nothing, rules clash, or a Cell already carries `to_float` or an amp level.
    """
    adapter.verify()
    _refuse_foreign_precision(network)
    assignments = resolve(policy, read_outline(network))
    regions = [region_of(assignment, policy) for assignment in assignments]
    remove(network)
    cells = dict(named_cells(network))
    for assignment, region in zip(assignments, regions, strict=True):
        adapter.set_region(cells[assignment.path], region)
    if len(set(regions)) > 1:
        separate(network)
    return Rewritten(network, assignments)


def remove(network: nn.Cell) -> nn.Cell:
    """Take halfwise's regions off the network and give the original back."""
    for _, cell in named_cells(network):
        adapter.clear_region(cell)
        adapter.forget_compiled(cell)
    rejoin(network)
    return network


def _refuse_foreign_precision(network: nn.Cell) -> None:
    for path, cell in named_cells(network):
        found = adapter.foreign_precision(cell)
        if found is not None:
            raise InputError(
                f"layer {path or 'the network itself'} already has its precision set by {found}; a policy "
                "decides the whole network: build the network without it"
            )
