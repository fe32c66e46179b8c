"""Why a policy is no faster: how much of the work is low, what casts take, and what no precision makes shorter."""

import shlex
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluators.price.boundaries import cast_report
from ...evaluators.price.devices import Device
from ...evaluators.price.op_costs import op_costs, op_names
from ...evaluators.price.price import Price, price_table
from ...evaluators.speed.comparison import Comparison
from ...policies import LOW_PRECISIONS
from .answer import Answer

QUESTION = "Is it no faster?"
_BORDERS = 3
_LARGER_BATCH = 4


@dataclass(frozen=True)
class Limits:
    """Shares of a step's price, by what holds each op up; they add up to 1."""

    arithmetic: float
    memory: float
    launches: float
    casts: float

    @property
    def largest(self) -> str:
        """The one that takes most, as advice."""
        words = {
            "arithmetic": "arithmetic takes most of the step: lower precision of more of it is what helps",
            "memory": "most of the step moves memory: low precision helps as far as values get shorter",
            "launches": "launches of ops take most of the step, the same in any precision: a larger batch helps",
            "casts": "casts take most of the step: neighbours in one precision need none",
        }
        return words[max(words, key=lambda name: getattr(self, name))]


def limits_of(table: pd.DataFrame, device: Device) -> Limits:
    """What holds the ops of a step up on a device: an op's launch apart, the slower of arithmetic and memory.

    Raises:
        HalfwiseError: a shape is not known, or the device lacks a figure.
    """
    costs = op_costs(table, device)
    total = float(costs.seconds.sum())
    if not total:
        return Limits(1.0, 0.0, 0.0, 0.0)
    runs, own = costs.seconds > 0, ~costs.is_cast
    launches = np.where(runs, np.minimum(device.launch.si, costs.seconds), 0.0)
    rest, memory_s = costs.seconds - launches, costs.bytes / device.bytes_per_s
    # An op takes the longer of both: where that is not the memory's time, it is the arithmetic's.
    is_memory = memory_s >= rest * (1 - 1e-9)
    shares = [
        float(part.sum()) / total
        for part in (rest[own & ~is_memory], rest[own & is_memory], launches[own], costs.seconds[~own])
    ]
    return Limits(*shares)


def why_speed(
    table: pd.DataFrame,
    device: Device,
    speedup: float | None,
    batch_size: int | None,
    workload: str,
    policy: str,
    compared: Comparison | None = None,
) -> Answer:
    """Priced from the op table; `compared` is what was measured side by side, if it was.

    Raises:
        HalfwiseError: as `limits_of`.
    """
    price, limits = price_table(table, device), limits_of(table, device)
    lines = [*_work(price, limits, len(op_names(table))), *_borders(table, device), *_float32(price)]
    if compared is not None:
        lines.append(f"measured: {compared}")
    known = "How much faster than float32 is not known" if speedup is None else f"{speedup:.2f}x float32's speed"
    return Answer(
        QUESTION,
        f"{known}, priced on {device.name}: {limits.largest}.",
        tuple(lines),
        f"priced on {device.name}, not measured" + ("; measured where it says so" if compared else ""),
        _next(workload, policy, device, batch_size),
    )


def _work(price: Price, limits: Limits, ops: int) -> tuple[str, str]:
    low = sum(share for name, share in price.flops_share.items() if name in LOW_PRECISIONS)
    return (
        f"arithmetic in half precision: {low:.0%}",
        f"of the step: arithmetic {limits.arithmetic:.0%}, memory {limits.memory:.0%}, "
        f"launches {limits.launches:.0%}, casts {limits.casts:.0%} ({ops} ops, {price.casts.count} of them casts)",
    )


def _borders(table: pd.DataFrame, device: Device) -> list[str]:
    return [
        f"casts between {_layer(border.producer)} and {_layer(border.consumer)}: {border.share:.1%} of the step"
        for border in cast_report(table, device, top=_BORDERS)
    ]


def _float32(price: Price) -> list[str]:
    return [
        f"stayed float32: {cost.op} of {_layer(cost.layer)}, {cost.seconds / price.step_time_s:.1%} of the step"
        for cost in price.costliest_float32[:_BORDERS]
    ]


def _layer(path: str | None) -> str:
    return path or "the network itself"


def _next(workload: str, policy: str, device: Device, batch_size: int | None) -> tuple[str, ...]:
    base = ["--workload", workload]
    price = ["halfwise", "price", policy, *base, "--price-for", device.name]
    larger = [] if batch_size is None else [shlex.join([*price, "--batch-size", str(_LARGER_BATCH * batch_size)])]
    return (*larger, shlex.join(["halfwise", "profile", *base, "--policy", policy]))
