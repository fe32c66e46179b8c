"""What every kernel of a step costs on the device that was calibrated: timed kernels first, peaks for the rest."""

import numpy as np
import pandas as pd

from .devices import Device
from .kernel_signatures import signatures, work_of
from .op_costs import OpCosts, op_names, precision_casts, refuse_unknown_shapes, roofline_s, unit_of
from .timings import Timings


def kernel_costs(table: pd.DataFrame, device: Device, timings: Timings) -> OpCosts:
    """The costs of every row of a kernel table; each kernel in it is run, equal casts too.

    A kernel of no kind that was timed is priced by the device's peaks, and its name is among `by_bytes_only` only
    if it has no rule for its arithmetic either.

    Raises:
        InputError: the device lacks a figure that a kernel without a time needs.
        HalfwiseError: a shape in the table is not known.
    """
    refuse_unknown_shapes(table)
    names = op_names(table)
    flops = table["flops"].fillna(0).to_numpy(np.float64)
    moved = (table["bytes_read"] + table["bytes_written"]).to_numpy(np.float64)
    precision = np.array([value or "" for value in table["compute_precision"].replace(np.nan, None)], dtype=object)
    seconds = kernel_seconds(table, device, timings)
    untimed = np.isnan(seconds)
    seconds[untimed] = roofline_s(flops[untimed], moved[untimed], names[untimed], precision[untimed], device)
    without_rule = table["flops"].isna().to_numpy() & untimed
    return OpCosts(flops, moved, precision, precision_casts(table), seconds, without_rule)


def kernel_seconds(table: pd.DataFrame, device: Device, timings: Timings) -> np.ndarray:
    """The time of each row from the timings, NaN where they know no kernel of its kind; views take none."""
    works = kernel_works(table)
    found = [
        timings.seconds(kernel, work, device.launch.si) if work > 0 else 0.0
        for kernel, work in zip(signatures(table), works, strict=True)
    ]
    return np.array([np.nan if seconds is None else seconds for seconds in found])


def kernel_works(table: pd.DataFrame) -> np.ndarray:
    """The work of each row of a kernel table; 0 for views, which are not run."""
    flops = table["flops"].fillna(0).to_numpy(np.float64)
    moved = (table["bytes_read"] + table["bytes_written"]).to_numpy(np.float64)
    on_matrix = np.array([unit_of(name) == "matrix" for name in op_names(table)], dtype=bool)
    return work_of(flops, moved, on_matrix)
