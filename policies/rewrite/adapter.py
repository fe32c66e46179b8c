"""The one module that calls MindSpore's private autocast machinery.

A region is what amp level "auto" sets on a whole network, set here on one Cell: an `amp_strategy` attribute
for graph mode and a wrapped `construct` for PyNative mode. MindSpore keeps both private, so `verify` tries
them on two small layers before they are trusted.
"""

import functools
import types
from collections.abc import Iterator
from contextlib import contextmanager

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from ..errors import HalfwiseError
from ..regions import Region

TESTED_VERSIONS = ("2.10.0",)

DTYPES = {"float32": ms.float32, "float16": ms.float16, "bfloat16": ms.bfloat16}

# The attribute by which halfwise knows a region of its own; MindSpore never reads it.
_MARK = "halfwise_region"


def _private_calls() -> tuple:
    try:
        from mindspore._c_expression.amp import AmpLevel, create_amp_strategy
        from mindspore.train.amp import AmpDecorator, _set_amp_decorator
    except ImportError as error:
        raise HalfwiseError(
            f"MindSpore {ms.__version__} has no autocast regions as halfwise knows them ({error}); "
            f"tested with MindSpore {', '.join(TESTED_VERSIONS)}"
        ) from error
    return AmpLevel.AmpAuto, create_amp_strategy, _set_amp_decorator, AmpDecorator


def set_region(cell: nn.Cell, region: Region) -> None:
    """Make `cell`'s own ops compute as the region says; nested Cells with their own regions override it."""
    level, create_strategy, decorate, _ = _private_calls()
    if region.border is not None:
        _cast_inputs(cell, DTYPES[region.border])
    dtype = DTYPES[region.precision]
    white, black = _entries(region.white_list), _entries(region.black_list)
    cell.amp_strategy = create_strategy(level, dtype, white, black)
    decorate(cell, level, dtype, white, black)
    setattr(cell, _MARK, True)


def clear_region(cell: nn.Cell) -> None:
    """Take back what `set_region` did; a Cell without a region of halfwise's is left as it is."""
    if not has_region(cell):
        return
    for name in ("construct", "amp_strategy", "halfwise_construct", "halfwise_dtype", _MARK):
        cell.__dict__.pop(name, None)


def has_region(cell: nn.Cell) -> bool:
    """Whether the Cell carries a region that halfwise set."""
    return _MARK in cell.__dict__


def foreign_precision(cell: nn.Cell) -> str | None:
    """What else already decides this Cell's precision, in a user's words, or None.

    `to_float` on an inner Cell wins over a region and a network under `auto_mixed_precision` would be
    lowered twice, so neither can be combined with a policy.
    """
    if any(getattr(cell, flag, False) for flag in ("fp16", "fp32", "bf16")):
        return "to_float()"
    if getattr(cell, "_amp_level", "") not in ("", "O0"):
        return f"auto_mixed_precision(level {cell._amp_level!r})"
    return None


def forget_compiled(cell: nn.Cell) -> None:
    """Drop compiled graphs of the Cell: a network that was compiled would otherwise keep its old regions."""
    cell.compile_cache.clear()


@functools.cache
def verify() -> None:
    """Try two neighbouring regions on a product of 2x2 ones, op by op, once a process.

    Raises:
        HalfwiseError: the outputs are not in the precision that the regions ask for.
    """
    ones = ms.Tensor(np.ones((2, 2), np.float32))
    found = []
    for white, black in ((("MatMul",), ()), ((), ("MatMul",))):
        with _op_by_op_region(white, black):
            found.append(ops.MatMul()(ones, ones).dtype)
    if found != [ms.float16, ms.float32]:
        raise HalfwiseError(
            f"autocast regions of MindSpore {ms.__version__} do not do what halfwise needs: a white-listed "
            f"product came out as {found[0]}, a black-listed one as {found[1]}; "
            f"tested with MindSpore {', '.join(TESTED_VERSIONS)}"
        )


@contextmanager
def _op_by_op_region(white: tuple[str, ...], black: tuple[str, ...]) -> Iterator[None]:
    level, _, _, decorator = _private_calls()
    with decorator(level, ms.float16, _entries(white), _entries(black)):
        yield


def _entries(names: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    # The list beside a name would choose arguments; MindSpore 2.10 ignores it.
    return [(name, []) for name in names]


def _cast_inputs(cell: nn.Cell, dtype) -> None:
    cell.halfwise_dtype = dtype
    cell.halfwise_construct = types.MethodType(type(cell).construct, cell)
    cell.construct = types.MethodType(_construct_on_cast_inputs, cell)


# Graph mode reads this function's source: it stands at module level and calls its first argument self.
def _construct_on_cast_inputs(self, *inputs):
    cast = ()
    for value in inputs:
        cast += (ops.mixed_precision_cast(self.halfwise_dtype, value),)
    return self.halfwise_construct(*cast)
