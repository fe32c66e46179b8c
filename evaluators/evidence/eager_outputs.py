"""What a network's Cells give when it runs op by op: seen by hooks on every Cell, in PyNative mode.

Hooks see what goes into a Cell and what comes out of it, never the ops inside. A Cell whose `construct` is called
directly instead of the Cell itself is not seen.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mindspore as ms
from mindspore import nn

from ...policies.outline import CellOutline
from ...policies.rewrite import read_outline
from ...policies.rewrite.network_outline import named_cells
from .value_types import TensorType
from .written_casts import writes_casts


@dataclass(frozen=True)
class SeenCall:
    """One call of one Cell, by its first path in the user's network ("" is the network itself).

    `inputs` and `outputs` are every tensor in what it takes and gives, nested or not; `parameters` are the Cell's
    own. `one_output`: it gave one tensor and nothing else. `innermost`: no Cell stands below it. `writes_casts`:
    the user's code in it, or below, casts, so that no graph tells what it gives.
    """

    layer: str
    type_names: tuple[str, ...]
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    parameters: tuple[TensorType, ...]
    one_output: bool
    innermost: bool
    writes_casts: bool


@contextmanager
def watched_outputs(network: nn.Cell) -> Iterator[list[SeenCall]]:
    """While this is open, every call of a Cell of `network` is put into the list that it gives, as it ends.

    Only precisions and shapes are kept. What is computed is the same, bit for bit, random numbers and statistics
    too; afterwards no hook is left. In graph mode nothing is seen.
    """
    seen: list[SeenCall] = []
    cells = dict(named_cells(network))
    handles = [
        cells[outline.path].register_forward_hook(_hook(outline, cells[outline.path], seen), with_kwargs=True)
        for outline in read_outline(network).cells
    ]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _hook(outline: CellOutline, cell: nn.Cell, seen: list[SeenCall]) -> Callable[..., None]:
    parameters = tuple(
        TensorType(str(parameter.dtype), tuple(parameter.shape), parameter.name)
        for parameter in cell._params.values()
        if parameter is not None
    )
    innermost = not any(child is not None for child in cell._cells.values())
    casts = writes_casts(cell)

    def hook(_: nn.Cell, inputs: tuple[Any, ...], named: Mapping[str, Any], output: Any) -> None:
        seen.append(
            SeenCall(
                layer=outline.path,
                type_names=outline.type_names,
                inputs=tuple(_tensors((inputs, named))),
                outputs=tuple(_tensors(output)),
                parameters=parameters,
                one_output=isinstance(output, ms.Tensor),
                innermost=innermost,
                writes_casts=casts,
            )
        )

    return hook


def _tensors(value: Any) -> Iterator[TensorType]:
    if isinstance(value, ms.Tensor):
        yield TensorType(str(value.dtype), tuple(value.shape))
    elif isinstance(value, Mapping):
        yield from (tensor for inner in value.values() for tensor in _tensors(inner))
    elif isinstance(value, (tuple, list)):
        yield from (tensor for inner in value for tensor in _tensors(inner))
