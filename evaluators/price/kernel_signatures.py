"""The signature of every row of a kernel table, and which rows are given half zeros."""

import numpy as np
import pandas as pd

from .signature import OTHER, Signature, Tensor

# What leaves these is zero wherever a rectifier held its input back.
_RECTIFIERS = frozenset({"ReLU", "ReLU6", "ReluGrad", "ReLUGrad", "ReLU6Grad", "Dropout", "DropoutGrad"})
# These hand the values of their one tensor on.
_CARRIERS = frozenset({"Cast", "Reshape", "Transpose", "ExpandDims", "Squeeze", "Flatten", "Tile"})


def signatures(table: pd.DataFrame) -> list[Signature]:
    """One for each row of a kernel table, in its order."""
    zeros = given_half_zeros(table)
    return [_signature(row, flag) for row, flag in zip(table.itertuples(), zeros, strict=True)]


def given_half_zeros(table: pd.DataFrame) -> list[bool]:
    """Whether a row's only input comes from a rectifier, directly or through ops that just carry values."""
    holds: dict[int, bool] = {}
    given: list[bool] = []
    for row in table.itertuples():
        alone = len(row.input_shapes) == 1 and len(row.producers) == 1
        flag = alone and holds.get(row.producers[0], False)
        holds[row.id] = row.op in _RECTIFIERS or (flag and row.op in _CARRIERS)
        given.append(flag)
    return given


def _signature(row, half_zeros: bool) -> Signature:
    inputs = tuple(map(_tensor, row.input_precisions, row.input_shapes))
    output = _tensor(row.output_precision, row.output_shapes[0] if row.output_shapes else ())
    return Signature(row.op, inputs, output, half_zeros)


def _tensor(precision: str | float | None, shape: tuple[int, ...]) -> Tensor:
    # A column of precisions holds NaN, not None, once pandas has been at it.
    return (precision if isinstance(precision, str) else OTHER, tuple(shape))


def work_of(flops: np.ndarray, moved: np.ndarray, on_matrix: np.ndarray) -> np.ndarray:
    """What a kernel's time grows with: arithmetic on the matrix unit, bytes elsewhere."""
    return np.where(on_matrix & (flops > 0), flops, moved)
