"""Where a policy's gain is lost on the priced device: what a step's time goes into, and the dearest borders."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...evaluators.price.boundaries import Boundary, cast_report
from ...evaluators.price.device_file import load_devices
from ...evaluators.price.devices import Device
from ...evaluators.price.op_costs import op_costs
from ...policies import LOW_PRECISIONS
from ...policies.errors import HalfwiseError

_BORDERS = 8


@dataclass(frozen=True)
class StepParts:
    """What the ops of a step take by price, in seconds: in half precision, float32, casts, and without floats."""

    low_s: float
    float32_s: float
    casts_s: float
    rest_s: float

    @property
    def total_s(self) -> float:
        """The whole step."""
        return self.low_s + self.float32_s + self.casts_s + self.rest_s

    @property
    def shares(self) -> tuple[tuple[str, float], ...]:
        """Each part by name, as a share of the step."""
        parts = (("low", self.low_s), ("float32", self.float32_s), ("casts", self.casts_s), ("rest", self.rest_s))
        return tuple((name, seconds / self.total_s) for name, seconds in parts)


@dataclass(frozen=True)
class CastMap:
    """One policy's step on a device: its parts, and the borders whose casts cost most, dearest first."""

    policy: str
    parts: StepParts
    borders: Sequence[Boundary]


@dataclass(frozen=True)
class CastMaps:
    """Those of several policies on one device; `missing` says why there are none to show."""

    device: str
    maps: tuple[CastMap, ...] = ()
    missing: str = ""

    @property
    def longest_s(self) -> float:
        """The longest step of them: what bars are drawn against."""
        return max(each.parts.total_s for each in self.maps)


def cast_maps(tables: Sequence[tuple[str, pd.DataFrame]], row: str | None) -> CastMaps:
    """Priced from the trials' own op tables; a study that measures speed is priced for nothing."""
    if row is None:
        return CastMaps("", missing="Speed was measured in this study, not priced: no price says what casts take.")
    device = load_devices().get(row)
    if device is None or device.timings is not None:
        where = "which is not part of a study: halfwise price reads it"
        return CastMaps(row, missing=f"The figures of {row} came from a device file, {where}.")
    if not tables:
        return CastMaps(row, missing="No trial has left a compiled step to read.")
    try:
        return CastMaps(row, tuple(_cast_map(policy, table, device) for policy, table in tables))
    except HalfwiseError as error:
        return CastMaps(row, missing=f"The steps have no price: {error}.")
    except (LookupError, TypeError, ValueError, ArithmeticError):
        # The tables are files of a study, which anybody may have bent.
        return CastMaps(row, missing="The steps have no price: a trial's table of ops does not hold together.")


def _cast_map(policy: str, table: pd.DataFrame, device: Device) -> CastMap:
    parts = step_parts(table, device)
    if not 0 < parts.total_s < math.inf:
        raise HalfwiseError(f"no op of {policy} takes any time there")
    return CastMap(policy, parts, cast_report(table, device, top=_BORDERS))


def step_parts(table: pd.DataFrame, device: Device) -> StepParts:
    """The prices of a table's ops, summed by what they are.

    Raises:
        HalfwiseError: a shape is not known, or the device lacks a figure.
    """
    costs = op_costs(table, device)
    low = np.isin(costs.precision.astype(str), LOW_PRECISIONS) & ~costs.is_cast
    full = (costs.precision == "float32") & ~costs.is_cast
    return StepParts(
        low_s=float(costs.seconds[low].sum()),
        float32_s=float(costs.seconds[full].sum()),
        casts_s=float(costs.seconds[costs.is_cast].sum()),
        rest_s=float(costs.seconds[~(low | full | costs.is_cast)].sum()),
    )
