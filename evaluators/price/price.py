"""The price of one training step on a device, and what it is made of."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from .devices import Device
from .kernel_costs import kernel_costs
from .op_costs import OpCosts, op_costs, op_names

Stage = Literal["asked", "kernel"]

_TOP = 10


@dataclass(frozen=True)
class OpCost:
    """One op that stayed in float32, and what it costs; `layer` is None outside the user's network."""

    op: str
    layer: str | None
    direction: str
    seconds: float


@dataclass(frozen=True)
class CastCost:
    """How many casts between precisions there are, what they cost, and their share of the step."""

    count: int
    seconds: float
    share: float


@dataclass(frozen=True)
class Price:
    """What a step costs on `device`: worked out, not measured.

    `stage` says of which graph: "asked" for any device, "kernel" for the one that compiled it. `flops_share` is
    the share of arithmetic in each precision. `costliest_float32` are the float32 ops of the network itself that
    cost most. `by_bytes_only` names ops without a rule for their arithmetic. `assumptions` are what the price
    takes for granted, in words.
    """

    device: str
    stage: Stage
    step_time_s: float
    flops: float
    flops_share: Mapping[str, float]
    casts: CastCost
    costliest_float32: tuple[OpCost, ...]
    by_bytes_only: tuple[str, ...]
    assumptions: tuple[str, ...]

    def throughput_samples_per_s(self, batch_size: int) -> float:
        """Samples per second at the batch size that the table was compiled with."""
        return batch_size / self.step_time_s

    def with_seconds(self, seconds: float) -> "Price":
        """The price of a step that does something else besides for so long."""
        total = self.step_time_s + seconds
        share = self.casts.seconds / total if total else 0.0
        return replace(self, step_time_s=total, casts=replace(self.casts, share=share))

    @property
    def label(self) -> str:
        """What every figure of this price is called by."""
        return f"priced on {self.device}" + ("" if self.stage == "asked" else f" ({self.stage} stage)")


def price_table(table: pd.DataFrame, device: Device, stage: Stage = "asked") -> Price:
    """Price the table of one compiled step: an op table (asked), or a kernel table.

    The step takes the sum over its ops of max(FLOPs / peak of unit and precision, bytes / bandwidth) plus a
    launch each (`op_costs`): what overlaps on a real device is not modelled. An empty table costs nothing.
    The kernel stage on a calibrated device takes the times of its kernels instead (`kernel_costs`), and what a
    step takes beside them.

    Raises:
        InputError: the device lacks a figure that these ops need.
        HalfwiseError: a shape is not known.
    """
    if stage == "kernel" and device.timings is not None:
        costs = kernel_costs(table, device, device.timings)
        beside_s = device.step.si if device.step is not None else 0.0
    else:
        costs, beside_s = op_costs(table, device), 0.0
    total = float(costs.seconds.sum()) + beside_s
    cast_seconds = float(costs.seconds[costs.is_cast].sum())
    return Price(
        device=device.name,
        stage=stage,
        step_time_s=total,
        flops=float(costs.flops.sum()),
        flops_share=_flops_share(costs),
        casts=CastCost(int(costs.is_cast.sum()), cast_seconds, cast_seconds / total if total else 0.0),
        costliest_float32=_costliest_float32(table, costs),
        by_bytes_only=tuple(sorted(set(op_names(table)[costs.by_bytes_only]))),
        assumptions=device.assumptions,
    )


def _flops_share(costs: OpCosts) -> Mapping[str, float]:
    by_precision: dict[str, float] = defaultdict(float)
    for precision, flops in zip(costs.precision, costs.flops, strict=True):
        if precision:
            by_precision[precision] += flops
    total = sum(by_precision.values())
    return {name: flops / total for name, flops in sorted(by_precision.items())} if total else {}


def _costliest_float32(table: pd.DataFrame, costs: OpCosts) -> tuple[OpCost, ...]:
    if "layer" not in table:
        return ()
    layers = table["layer"].replace(np.nan, None).to_list()
    inside = np.array([layer is not None for layer in layers], dtype=bool)
    rows = np.flatnonzero(inside & (costs.precision == "float32") & (costs.seconds > 0))
    costliest = rows[np.argsort(-costs.seconds[rows], kind="stable")][:_TOP]
    names, directions = op_names(table), table["direction"].to_list()
    return tuple(OpCost(names[r], layers[r], directions[r], float(costs.seconds[r])) for r in costliest)
