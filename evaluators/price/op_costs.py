"""What every op of a table costs on a device: the roofline, op by op, as arrays.

An op takes as long as the slower of its arithmetic and its memory traffic, and a launch on top. Ops that move
and compute nothing (views) are never launched. Of several casts of one value to one precision the device is
asked for the first only.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...policies.errors import HalfwiseError
from ...policies.ops import OP_CLASSES
from .devices import UNITS, Device, Unit
from .fusion import fuse

_MATRIX_GRADIENTS = frozenset(
    {
        *("Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv2DTransposeGrad", "Conv3DBackpropFilter"),
        *("Conv3DBackpropInput", "ConvolutionGrad", "ConvolutionStrGrad", "DepthwiseConv2dNativeBackpropFilter"),
        *("DepthwiseConv2dNativeBackpropInput", "DynamicGRUV2Grad", "DynamicRNNGrad", "FlashAttentionScoreGrad"),
        *("LSTMGradData", "LSTMGradWeight", "MatMulV2"),
    }
)


@dataclass(frozen=True)
class OpCosts:
    """Arrays in the order of the table's rows.

    `flops` (0 without a rule), `bytes` moved, `precision` computed in ("" without floats), `is_cast`: changes a
    float's precision, `seconds`, and `by_bytes_only`: has no rule for its arithmetic.
    """

    flops: np.ndarray
    bytes: np.ndarray
    precision: np.ndarray
    is_cast: np.ndarray
    seconds: np.ndarray
    by_bytes_only: np.ndarray


def op_costs(table: pd.DataFrame, device: Device) -> OpCosts:
    """The costs of every row of an op table or kernel table on a device.

    Raises:
        InputError: the device lacks a figure that these ops need.
        HalfwiseError: a shape in the table is not known: dynamic shapes have no price.
    """
    refuse_unknown_shapes(table)
    names = op_names(table)
    flops = table["flops"].fillna(0).to_numpy(np.float64)
    moved = (table["bytes_read"] + table["bytes_written"]).to_numpy(np.float64)
    precision = np.array([value or "" for value in table["compute_precision"].replace(np.nan, None)], dtype=object)
    casts = precision_casts(table)
    runs = ~_repeated(table, casts)
    if device.fused_casts is not None:
        fused = fuse(table, device.fused_casts)
        moved = moved - fused.saved_bytes
        runs &= ~fused.gone
    seconds = np.where(runs, roofline_s(flops, moved, names, precision, device), 0.0)
    return OpCosts(
        flops, np.where(runs, moved, 0.0), precision, casts & runs, seconds, table["flops"].isna().to_numpy()
    )


def roofline_s(
    flops: np.ndarray, moved: np.ndarray, names: np.ndarray, precision: np.ndarray, device: Device
) -> np.ndarray:
    """Seconds of each op: the larger of FLOPs / peak and bytes / bandwidth, plus the launch.

    Raises:
        InputError: the device lacks a figure that these ops need.
    """
    arithmetic = np.zeros_like(flops)
    on_matrix = np.array([unit_of(name) == "matrix" for name in names], dtype=bool)
    for unit in UNITS:
        chosen = on_matrix if unit == "matrix" else ~on_matrix
        for used in sorted(set(precision[chosen & (flops > 0)]) - {""}):
            rows = chosen & (precision == used)
            arithmetic[rows] = flops[rows] / device.flops_per_s(unit, used)
    launched = (flops > 0) | (moved > 0)
    return np.maximum(arithmetic, moved / device.bytes_per_s) + launched * device.launch.si


def unit_of(op: str) -> Unit:
    """Where an op runs: products, convolutions and their gradients on the matrix unit."""
    return "matrix" if OP_CLASSES.get(op) == "matrix" or op in _MATRIX_GRADIENTS else "vector"


def op_names(table: pd.DataFrame) -> np.ndarray:
    """The ops as they stand in the graph; a kernel table has them under `op`."""
    return table["graph_op" if "graph_op" in table else "op"].to_numpy(dtype=object)


def precision_casts(table: pd.DataFrame) -> np.ndarray:
    """Which rows change a float's precision; casts of integers and booleans don't."""
    source = [precisions[0] if precisions else None for precisions in table["input_precisions"]]
    target = table["output_precision"].replace(np.nan, None)
    changes = [a is not None and b is not None and a != b for a, b in zip(source, target, strict=True)]
    return table["is_cast"].to_numpy(bool) & np.array(changes, dtype=bool)


def _repeated(table: pd.DataFrame, casts: np.ndarray) -> np.ndarray:
    """Casts of a value that an earlier row has cast to the same precision."""
    seen: set[tuple] = set()
    repeated = np.zeros(len(table), dtype=bool)
    outputs = dict(zip(table["id"], map(len, table["output_shapes"]), strict=True))
    sources = table["parameters"] if "parameters" in table else [()] * len(table)
    rows = zip(table["producers"], sources, table["output_precision"], table["output_shapes"], strict=True)
    for place, (producers, parameters, target, shapes) in enumerate(rows):
        # Casts of a step's several inputs, or of one op's several outputs, can't be told apart here.
        alone = parameters or (producers and outputs[producers[0]] == 1)
        if casts[place] and alone:
            key = (producers, parameters, target, shapes)
            repeated[place] = key in seen
            seen.add(key)
    return repeated


def refuse_unknown_shapes(table: pd.DataFrame) -> None:
    """Refuse a table with dynamic shapes: they have no price.

    Raises:
        HalfwiseError: a shape is not known; the message names the ops.
    """
    unknown = table[table["bytes_read"].isna() | table["bytes_written"].isna()]
    if len(unknown):
        names = ", ".join(sorted(set(op_names(unknown)))[:5])
        raise HalfwiseError(
            f"{len(unknown)} ops have shapes that are not known before the step runs ({names}); they cannot be "
            "priced: give the workload batches of one fixed shape"
        )
