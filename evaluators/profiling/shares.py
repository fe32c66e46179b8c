"""Tells by precision, op and layer where the kernels' time went, with the price of the asked ops beside it."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..price.devices import Device
from ..price.op_costs import OpCosts, op_costs, precision_casts
from .result import CASTS, NO_FLOATS, Float32Op, PartOfStep

_ORDER = ("float16", "bfloat16", "float32", "float64", CASTS, NO_FLOATS)
_TOP = 10


def measured(kernels: pd.DataFrame, seconds: Mapping[str, float]) -> pd.Series:
    """Seconds of each row of a kernel table, 0 for kernels that did not run."""
    return kernels["name"].map(seconds).fillna(0.0).astype(float)


def parts_of_step(
    kernels: pd.DataFrame, ops: pd.DataFrame, seconds: Mapping[str, float], device: Device
) -> tuple[PartOfStep, ...]:
    """Seconds by precision: of the kernels as measured, and of the op table as priced on `device`.

    A kernel counts for the precision that it computes in, an op for the one that it was asked to.

    Raises:
        InputError: the device lacks a figure that these ops need.
    """
    took = measured(kernels, seconds).groupby(_labels(kernels)).sum()
    costs = op_costs(ops, device)
    priced = pd.Series(costs.seconds).groupby(_priced_labels(costs)).sum()
    names = [name for name in _ORDER if took.get(name, 0.0) or priced.get(name, 0.0)]
    return tuple(
        PartOfStep(part=name, measured_s=float(took.get(name, 0.0)), priced_s=float(priced.get(name, 0.0)))
        for name in names
    )


def float32_ops(
    kernels: pd.DataFrame, ops: pd.DataFrame, seconds: Mapping[str, float], device: Device
) -> tuple[Float32Op, ...]:
    """The ops of the network that took longest of those whose kernels computed in float32.

    Kernels of which it is not known what op they compute are left out.
    """
    took = measured(kernels, seconds)
    labels = _labels(kernels)
    rows = dict(zip(ops["id"], ops.itertuples(), strict=True))
    costs = dict(zip(ops["id"], op_costs(ops, device).seconds, strict=True))
    found: list[Float32Op] = []
    for asked, label, each_s in zip(kernels["asked_id"].replace(np.nan, None), labels, took, strict=True):
        row = rows.get(asked)
        if row is None or label != "float32" or row.layer is None or not each_s:
            continue
        as_asked = row.compute_precision == "float32"
        found.append(
            Float32Op(
                op=row.op,
                layer=row.layer,
                direction=row.direction,
                measured_s=each_s,
                priced_s=costs[asked] if as_asked else None,
            )
        )
    return tuple(sorted(found, key=lambda op: -op.measured_s)[:_TOP])


def _labels(table: pd.DataFrame) -> list[str]:
    precisions = table["compute_precision"].replace(np.nan, None)
    casts = precision_casts(table)
    return [CASTS if cast else name or NO_FLOATS for cast, name in zip(casts, precisions, strict=True)]


def _priced_labels(costs: OpCosts) -> list[str]:
    return [
        CASTS if cast else name or NO_FLOATS for cast, name in zip(costs.is_cast, costs.precision, strict=True)
    ]
