"""What a device can do at most: figures with their sources, as frozen values."""

import datetime
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ...policies.errors import InputError
from ...policies.near_miss import hint
from .timings import Timings

Unit = Literal["matrix", "vector"]
"""The part of a device that an op runs on: matrix products and convolutions, or everything else."""

UNITS: tuple[Unit, ...] = ("matrix", "vector")

UnitT = TypeVar("UnitT", bound=str)

_TO_SI: Mapping[str, float] = MappingProxyType(
    {"TFLOP/s": 1e12, "GFLOP/s": 1e9, "TB/s": 1e12, "GB/s": 1e9, "GB": 1e9, "us": 1e-6, "share": 1.0}
)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Figure(_Frozen, Generic[UnitT]):
    """One figure, where it comes from and when that was read; `assumed` when it has no source yet."""

    value: float = Field(gt=0, allow_inf_nan=False)
    unit: UnitT
    source: str = Field(min_length=1)
    date: datetime.date
    assumed: bool = False

    @property
    def si(self) -> float:
        """The value in FLOP/s, B/s, B, s or as a share."""
        return self.value * _TO_SI[self.unit]

    def __str__(self) -> str:
        """The value and its unit; an assumption says that it is one."""
        words = f"{self.value:g}" if self.unit == "share" else f"{self.value:g} {self.unit}"
        return f"{words} (assumed)" if self.assumed else words


class Rate(Figure[Literal["TFLOP/s", "GFLOP/s"]]):
    """Arithmetic per second."""


class Bandwidth(Figure[Literal["TB/s", "GB/s"]]):
    """Bytes per second."""


class Size(Figure[Literal["GB"]]):
    """Bytes; a GB is 10^9 of them."""


class Duration(Figure[Literal["us"]]):
    """Seconds; nothing at all is a fair figure here."""

    value: float = Field(ge=0, allow_inf_nan=False)


class Share(Figure[Literal["share"]]):
    """A part of a whole, above 0 and up to 1."""

    value: float = Field(gt=0, le=1)


class FusedCasts(_Frozen):
    """Ops whose neighbouring casts this device's back end takes into the op's own kernel.

    Such an op reads and writes the low precision itself, where casts stand before and behind it.
    """

    ops: tuple[str, ...] = Field(min_length=1)
    source: str = Field(min_length=1)
    date: datetime.date


class DeviceFigures(_Frozen):
    """One row of a device file; what is unknown is absent.

    `timings` are the kernel times of a calibrated device, `step` what a step takes beside its kernels there.
    """

    title: str
    matrix: dict[str, Rate] = {}
    vector: dict[str, Rate] = {}
    bandwidth: Bandwidth | None = None
    memory: Size | None = None
    link: Bandwidth | None = None
    launch: Duration
    reachable: Share
    fused_casts: FusedCasts | None = None
    step: Duration | None = None
    timings: Timings | None = None


class Device(DeviceFigures):
    """A row by its name.

    `bytes_only` holds (unit, precision) pairs whose arithmetic somebody chose to leave out, for want of a
    figure; `notes` say in words what was assumed beside the figures marked so.
    """

    name: str
    bytes_only: frozenset[tuple[str, str]] = frozenset()
    notes: tuple[str, ...] = ()

    def flops_per_s(self, unit: Unit, precision: str) -> float:
        """Reachable arithmetic per second; infinite where it is left out of the price.

        Raises:
            InputError: the figure is not known; the message says what can be done.
        """
        if (unit, precision) in self.bytes_only:
            return math.inf
        rate = getattr(self, unit).get(precision)
        if rate is None:
            raise InputError(self._unknown(f"{precision} {unit} rate", f"{unit}.{precision}"))
        return rate.si * self.reachable.si

    @property
    def bytes_per_s(self) -> float:
        """Reachable memory bandwidth.

        Raises:
            InputError: the figure is not known.
        """
        if self.bandwidth is None:
            raise InputError(self._unknown("memory bandwidth", "bandwidth"))
        return self.bandwidth.si * self.reachable.si

    @property
    def memory_bytes(self) -> float:
        """Bytes of device memory.

        Raises:
            InputError: the figure is not known.
        """
        if self.memory is None:
            raise InputError(self._unknown("memory size", "memory"))
        return self.memory.si

    @property
    def link_bytes_per_s(self) -> float:
        """What is reachable of the link to other devices, both directions together.

        Raises:
            InputError: the figure is not known.
        """
        if self.link is None:
            raise InputError(self._unknown("link to other devices", "link"))
        return self.link.si * self.reachable.si

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a price for this device takes for granted without a source, in words."""
        figures: dict[str, Figure[Any]] = {
            "launch cost an op": self.launch,
            "reachable part of each peak": self.reachable,
            **{f"{precision} matrix rate": rate for precision, rate in self.matrix.items()},
            **{f"{precision} vector rate": rate for precision, rate in self.vector.items()},
        }
        assumed = [f"{name} {figure}: {figure.source}" for name, figure in figures.items() if figure.assumed]
        return (*assumed, *self.notes)

    def _unknown(self, figure: str, field: str) -> str:
        return (
            f"device {self.name} cannot be priced: its {figure} is not known ({field} is absent); give it in a "
            "device file of your own, calibrate on the device, or state an assumption for it"
        )


def find_device(name: str, devices: Mapping[str, Device]) -> Device:
    """The device of that name.

    Raises:
        InputError: there is none; the message names near misses and all rows.
    """
    if name not in devices:
        raise InputError(f"unknown device {name!r}{hint(name, devices)}; known are {', '.join(devices)}")
    return devices[name]
