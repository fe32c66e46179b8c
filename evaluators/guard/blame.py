"""Which layers of a training step make what is not finite, seen by hooks in PyNative mode."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import mindspore as ms
from mindspore import nn

from ...policies.rewrite import read_outline
from ...policies.rewrite.network_outline import named_cells
from ..device import in_mode
from ..eager_origin import all_finite, watched_origins
from ..step import TrainStep


@dataclass(frozen=True)
class Blame:
    """A layer by its path ("" is the network itself), and whether its outputs or its gradients went wrong."""

    layer: str
    direction: Literal["forward", "gradient"]


@dataclass(frozen=True)
class _Passed:
    """What the backward pass handed to a layer and took from it, whether all of it was finite."""

    layer: str
    given: bool
    taken: bool


def blame(step: TrainStep, batch: Sequence[ms.Tensor]) -> list[Blame]:
    """Run forward and backward once more, eagerly; the layers that go wrong, the first one first.

    Nothing is updated, but statistics that the network keeps and random numbers go on. A layer is taken when it
    ends, so an inner one comes before those around it. Gradients count only where all forward values are finite.
    Behind the layers that spoil a gradient come those that get a spoilt one: a float32 layer may have had to hand
    it on in a precision that does not hold it.
    """
    with in_mode(ms.PYNATIVE_MODE), watched_origins(step.network) as outputs, _watched(step.network) as passed:
        # What graph mode had compiled is not used: this function is a new one.
        gradients = ms.value_and_grad(step._scaled_loss, None, step.optimizer.parameters, has_aux=True)
        _, values = gradients(*batch)
    if outputs:
        return [Blame(layer, "forward") for layer in outputs]
    finite = {
        parameter.name: all_finite(v) for parameter, v in zip(step.optimizer.parameters, values, strict=True)
    }
    return [Blame(layer, "gradient") for layer in _origins(passed, _own(step.network), finite)]


def _origins(passed: Sequence[_Passed], own: dict[str, list[str]], finite: dict[str, bool]) -> list[str]:
    """Layers in the order of the backward pass that spoilt a gradient; then those that got a spoilt one."""

    def spoilt(one: _Passed) -> bool:
        return not one.taken or not all(finite.get(name, True) for name in own[one.layer])

    made = [one.layer for one in passed if one.given and spoilt(one)]
    entered = [one.layer for one in passed if not one.given]
    return [*made, *entered] or [layer for layer, names in own.items() if not all(map(finite.get, names))][-1:]


def _own(network: nn.Cell) -> dict[str, list[str]]:
    """The names of each layer's own Parameters."""
    cells = dict(named_cells(network))
    return {
        outline.path: [parameter.name for parameter in cells[outline.path].get_parameters(expand=False)]
        for outline in read_outline(network).cells
    }


@contextmanager
def _watched(network: nn.Cell) -> Iterator[list[_Passed]]:
    """While this is open, what passes each layer in the backward pass is noted."""
    cells, passed = dict(named_cells(network)), list[_Passed]()
    handles = [
        cells[outline.path].register_backward_hook(_hook(outline.path, passed))
        for outline in read_outline(network).cells
    ]
    try:
        yield passed
    finally:
        for handle in handles:
            handle.remove()


def _hook(layer: str, passed: list[_Passed]) -> Callable[..., None]:
    def hook(_: nn.Cell, taken: Any, given: Any) -> None:
        passed.append(_Passed(layer, all_finite(given), all_finite(taken)))

    return hook
