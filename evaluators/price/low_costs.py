"""What every row of a float32 op table would cost in another precision."""

from dataclasses import dataclass
from math import prod

import numpy as np
import pandas as pd

from ...policies.errors import InputError
from ...policies.ops import OP_CLASSES
from .devices import UNITS, Device, Unit
from .op_costs import op_costs, op_names, roofline_s, unit_of

_BYTES = 4


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
    """Bytes that each row moves when its floats are half as wide; of a normalisation, its data."""
    return np.array([_row_bytes(row) for row in table.itertuples()], dtype=np.float64)


def _row_bytes(row) -> float:
    shapes, precisions = row.input_shapes, row.input_precisions
    floats = [shape for shape, precision in zip(shapes, precisions, strict=True) if precision == "float32"]
    written = list(row.output_shapes) if row.output_precision == "float32" else []
    if _keeps_statistics(row.graph_op):
        data = row.output_shapes[0]
        floats, written = [s for s in floats if s == data], [s for s in written if s == data]
    read = _halved(row.bytes_read, sum(map(prod, floats)) * _BYTES, all_floats=_total(row))
    return read + _halved(row.bytes_written, sum(map(prod, written)) * _BYTES, all_floats=None)


def _halved(moved: int, low: int, all_floats: int | None) -> float:
    if all_floats is not None and moved < all_floats:
        # Something is read once for several operands, or in part: what is low of it is half as wide.
        return moved * (1 - low / all_floats / 2) if all_floats else moved
    return max(moved - low / 2, moved / 2)


def _total(row) -> int:
    pairs = zip(row.input_shapes, row.input_precisions, strict=True)
    return sum(prod(shape) for shape, precision in pairs if precision == "float32") * _BYTES


def _keeps_statistics(op: str) -> bool:
    forward = op.removesuffix("Grad").removesuffix("Ext")
    return any(OP_CLASSES.get(name) == "inplace_normalization" for name in (op, forward)) or forward == "LayerNorm"
