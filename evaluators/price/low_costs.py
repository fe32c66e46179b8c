"""What every row of a float32 op table would cost in another precision."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np
import pandas as pd

from ...policies.errors import InputError
from ...policies.ops import OP_CLASSES
from .devices import UNITS, Device, Unit
from .op_costs import op_costs, op_names, roofline_s, unit_of

# These read as much of their table as they write.
_LOOK_UPS = frozenset({"Embedding", "EmbeddingLookup", "Gather", "GatherNd", "GatherV2"})


@dataclass(frozen=True)
class RowCosts:
    """Seconds of each row in float32 and in each precision that the device has figures for.

    `arithmetic_s`, `moved` and `elements` are the row's float32 arithmetic alone, its bytes, and the elements of
    its first output.
    """

    device: Device
    float32_s: np.ndarray
    low_s: dict[str, np.ndarray]
    arithmetic_s: np.ndarray
    moved: np.ndarray
    elements: np.ndarray

    @property
    def precisions(self) -> tuple[str, ...]:
        """Those that can be priced."""
        return ("float32", *self.low_s)

    def seconds(self, precision: str) -> np.ndarray:
        """By row."""
        return self.float32_s if precision == "float32" else self.low_s[precision]

    def fused_saving_s(self, row: int, tensors: int) -> float:
        """What a float32 op saves when as many of its tensors are low in memory."""
        moved = self.moved[row] - tensors * 2 * self.elements[row]
        fused = max(self.arithmetic_s[row], moved / self.device.bytes_per_s) + self.device.launch.si
        return float(self.float32_s[row] - fused)

    def refuse(self, precision: str) -> None:
        """Raise the error for a precision without figures."""
        for unit in UNITS:
            self.device.flops_per_s(unit, precision)


def row_costs(table: pd.DataFrame, device: Device) -> RowCosts:
    """The costs of a float32 op table (asked stage), row by row, had the row been low."""
    costs = op_costs(table, device)
    names, computes = op_names(table), costs.precision != ""
    moved = _low_bytes(table)
    low: dict[str, np.ndarray] = {}
    for precision in ("float16", "bfloat16"):
        asked = np.where(computes, precision, "").astype(object)
        if _priceable(names, costs.flops, device, precision):
            low[precision] = roofline_s(costs.flops, moved, names, asked, device)
    alone = roofline_s(costs.flops, np.zeros_like(costs.flops), names, costs.precision, device)
    arithmetic = alone - (costs.flops > 0) * device.launch.si
    elements = np.array([prod(shapes[0]) if shapes else 0 for shapes in table["output_shapes"]])
    return RowCosts(device, costs.seconds, low, arithmetic, costs.bytes, elements)


def _priceable(names: np.ndarray, flops: np.ndarray, device: Device, precision: str) -> bool:
    units: set[Unit] = {unit_of(name) for name, count in zip(names, flops, strict=True) if count > 0}
    try:
        for unit in units:
            device.flops_per_s(unit, precision)
    except InputError:
        return False
    return True


def _low_bytes(table: pd.DataFrame) -> np.ndarray:
    """Bytes that each row moves when its floats are half as wide, but for the statistics of normalisations."""
    return np.array([_row_bytes(row) for row in table.itertuples()], dtype=np.float64)


def _row_bytes(row) -> float:
    pairs = list(zip(row.input_shapes, row.input_precisions, strict=True))
    floats = [shape for shape, precision in pairs if precision == "float32"]
    outputs = row.output_shapes if row.output_precision == "float32" else ()
    low_in = [shape for shape in floats if _is_low(row, shape)]
    low_out = _float32_bytes(shape for shape in outputs if _is_low(row, shape))
    return row.bytes_read - _saved_reading(row, floats, low_in, low_out) + row.bytes_written - low_out / 2


def _saved_reading(row, floats: list, low: list, written: int) -> float:
    moved, whole = row.bytes_read, _float32_bytes(floats)
    if row.graph_op in _LOOK_UPS:
        return written / 2
    if moved >= whole:
        return _float32_bytes(low) / 2
    # A value that is given twice is read once.
    return moved * _float32_bytes(low) / whole / 2


def _is_low(row, shape: tuple[int, ...]) -> bool:
    """Of an in-place normalisation the data; of a LayerNorm all but the statistics, which have the data's axes."""
    data = row.output_shapes[0]
    forward = row.graph_op.removesuffix("Grad").removesuffix("Ext")
    if any(OP_CLASSES.get(name) == "inplace_normalization" for name in (row.graph_op, forward)):
        return shape == data
    return forward != "LayerNorm" or shape == data or len(shape) < len(data)


def _float32_bytes(shapes: Iterable[tuple[int, ...]]) -> int:
    return sum(map(prod, shapes)) * 4
