"""Which layer first gave what is not finite, where only PyNative mode can run the network."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from ..policies.rewrite import read_outline
from ..policies.rewrite.network_outline import named_cells


def first_non_finite_layer(network: nn.Cell, inputs: list[ms.Tensor]) -> str | None:
    """Run the forward pass in PyNative mode; the path of the first layer to make such values out of finite ones.

    "" is the network itself, None that every layer gave finite values. Layers are taken as they end, so an inner
    one comes before those around it. Gradients are not seen.
    """
    with watched_origins(network) as found:
        network(*inputs)
    return next(iter(found), None)


@contextmanager
def watched_origins(network: nn.Cell) -> Iterator[list[str]]:
    """While this is open, the layers that make what is not finite out of finite values, in the order of time."""
    cells, found = dict(named_cells(network)), list[str]()
    handles = [
        cells[outline.path].register_forward_hook(_hook(outline.path, found), with_kwargs=True)
        for outline in read_outline(network).cells
    ]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _hook(path: str, found: list[str]) -> Callable[..., None]:
    def hook(_: nn.Cell, inputs: tuple[Any, ...], named: Mapping[str, Any], output: Any) -> None:
        if not all_finite(output) and all_finite((inputs, named)):
            found.append(path)

    return hook


def all_finite(value: Any) -> bool:
    """Whether every float is finite in a Tensor, or in nested tuples, lists and mappings with Tensors in them."""
    return all(np.isfinite(array).all() for array in _floats(value))


def _floats(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, ms.Tensor):
        if value.dtype in (ms.float16, ms.bfloat16, ms.float32, ms.float64):
            yield value.astype(ms.float32).asnumpy()
    elif isinstance(value, Mapping):
        yield from (array for inner in value.values() for array in _floats(inner))
    elif isinstance(value, (tuple, list)):
        yield from (array for inner in value for array in _floats(inner))
