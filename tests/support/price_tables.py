"""Op tables made by hand, and a device whose figures are round numbers."""

import datetime
from math import prod
from typing import Any

import pandas as pd

from halfwise.evaluators.price import Device
from halfwise.evaluators.price.devices import Bandwidth, Duration, FusedCasts, Rate, Share, Size

WIDTHS = {"float32": 4, "float16": 2, None: 8}
FIELDS = {"source": "made up for tests", "date": datetime.date(2026, 1, 1)}


def make_row(number: int, graph_op: str, inputs: list, output: tuple, **columns: Any) -> dict[str, Any]:
    """One op; `inputs` and `output` are (shape, precision) pairs, everything else has a plain default."""
    precisions = tuple(precision for _, precision in inputs)
    shape, precision = output
    is_cast = graph_op == "Cast"
    computes = None if is_cast else next((p for p in (*precisions, precision) if p), None)
    return {
        "id": number,
        "op": graph_op,
        "graph_op": graph_op,
        "layer": "layer",
        "layer_certain": True,
        "direction": "forward",
        "forward_id": None,
        "input_precisions": precisions,
        "output_precision": precision,
        "compute_precision": computes,
        "kernel_precision": None,
        "input_shapes": tuple(s for s, _ in inputs),
        "output_shapes": (shape,),
        "flops": 0 if is_cast else prod(shape),
        "bytes_read": sum(prod(s) * WIDTHS[p] for s, p in inputs),
        "bytes_written": prod(shape) * WIDTHS[precision],
        "producers": (),
        "consumers": (),
        "parameters": (),
        "is_cast": is_cast,
        "cast_by": "policy" if is_cast else None,
        "name": f"Default/{graph_op}-op{number}",
    } | columns


def make_table(*rows: dict[str, Any]) -> pd.DataFrame:
    """Rows as a table, in which consumers follow from producers."""
    consumers: dict[int, list[int]] = {row["id"]: [] for row in rows}
    for row in rows:
        for producer in row["producers"]:
            consumers[producer].append(row["id"])
    filled = [row | {"consumers": tuple(consumers[row["id"]])} for row in rows]
    columns = list(make_row(0, "Add", [((1,), "float32")], ((1,), "float32")))
    table = pd.DataFrame(filled, columns=columns, dtype=object)
    return table.set_index("id", drop=False)


def make_device(
    bandwidth: float = 1.0, launch_us: float = 0.0, fused: tuple[str, ...] = (), memory_gb: float = 1.0
) -> Device:
    """1 TFLOP/s of float32 and 8 of float16 on the matrix unit, 1 and 2 on the other, 1 TB/s and 1 GB."""
    return Device(
        name="paper",
        title="A device on paper",
        matrix={
            "float32": Rate(value=1, unit="TFLOP/s", **FIELDS),
            "float16": Rate(value=8, unit="TFLOP/s", **FIELDS),
        },
        vector={
            "float32": Rate(value=1, unit="TFLOP/s", **FIELDS),
            "float16": Rate(value=2, unit="TFLOP/s", **FIELDS),
        },
        bandwidth=Bandwidth(value=bandwidth, unit="TB/s", **FIELDS),
        memory=Size(value=memory_gb, unit="GB", **FIELDS),
        launch=Duration(value=launch_us, unit="us", assumed=True, **FIELDS),
        reachable=Share(value=1, unit="share", assumed=True, **FIELDS),
        fused_casts=FusedCasts(ops=fused, **FIELDS) if fused else None,
    )
