"""Applies a policy to a network, by one of two engines, and takes it off again."""

from dataclasses import dataclass

from mindspore import nn

from ..errors import InputError
from ..policy import Policy
from ..resolve import Assignment, resolve
from . import adapter
from .engine import ENGINES, EngineName
from .network_outline import named_cells, read_outline


@dataclass(frozen=True)
class Rewritten:
    """The network with the policy on it, and what was asked of each Cell by which rule."""

    network: nn.Cell
    assignments: tuple[Assignment, ...]


def apply(policy: Policy, network: nn.Cell, engine: EngineName = "regions") -> Rewritten:
    """Put the policy onto `network`, in place of whatever a policy had set on it before.

    Parameters stay the same objects, so an optimizer that holds them keeps working. Everything is checked
    before the first Cell is touched. A training step that was already compiled around the network keeps
    its old graph: build the step after the policy is applied. No input is needed and no graph is compiled.

    The engine "regions" takes every network. "symbol-tree" writes casts into the constructs, where they can be
    read, and refuses a network of which it cannot tell everything that is computed.

    Raises:
        InputError: there is no such engine, a rule matches nothing, rules clash, a Cell already carries `to_float`
            or an amp level, or the engine cannot put the policy onto this network.
    """
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}: give one of {', '.join(ENGINES)}")
    _refuse_foreign_precision(network)
    assignments = resolve(policy, read_outline(network))
    put = ENGINES[engine].prepared(network, assignments, policy)
    remove(network)
    put()
    return Rewritten(network, assignments)


def remove(network: nn.Cell) -> nn.Cell:
    """Take off what `apply` did, by whichever engine, and give the original back."""
    for engine in ENGINES.values():
        engine.take_off(network)
    for _, cell in named_cells(network):
        adapter.forget_compiled(cell)
    return network


def _refuse_foreign_precision(network: nn.Cell) -> None:
    for path, cell in named_cells(network):
        found = adapter.foreign_precision(cell)
        if found is not None:
            raise InputError(
                f"layer {path or 'the network itself'} already has its precision set by {found}; a policy "
                "decides the whole network: build the network without it"
            )
