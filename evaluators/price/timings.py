"""Kernel times of one device, as a calibration found them, and how the time of another size follows from them."""

import datetime
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .signature import Signature


def _signature_text(text: str) -> str:
    return str(Signature.parse(text))


class KernelTime(BaseModel):
    """How long one kernel takes, and its work: FLOPs on the matrix unit, bytes moved elsewhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    time: float = Field(gt=0, allow_inf_nan=False)
    work: float = Field(ge=0, allow_inf_nan=False)


class Timings(BaseModel):
    """Times of kernels by their signatures; `host` is the processor or card that they hold for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(min_length=1)
    unit: Literal["us"]
    source: str = Field(min_length=1)
    date: datetime.date
    kernels: dict[Annotated[str, AfterValidator(_signature_text)], KernelTime] = Field(min_length=1)

    def seconds(self, kernel: Signature, work: float, launch_s: float) -> float | None:
        """The time of a kernel: as timed, else from its curve; None where no kernel of its kind was timed.

        Between two timed sizes the time goes as a power of the work. Above the largest it grows with the work,
        below the smallest it falls with it, down to `launch_s`. A kernel that is given half zeros and has no
        figures of its own is taken for one that is not.
        """
        for asked in (kernel, Signature(kernel.op, kernel.inputs, kernel.output)):
            if asked in self._exact:
                return self._exact[asked]
            if asked.kind in self._curves:
                return _on_curve(*self._curves[asked.kind], work, launch_s)
        return None

    @cached_property
    def _exact(self) -> Mapping[Signature, float]:
        return {Signature.parse(text): found.time * 1e-6 for text, found in self.kernels.items()}

    @cached_property
    def _curves(self) -> Mapping[tuple, tuple[np.ndarray, np.ndarray]]:
        points: dict[tuple, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
        for text, found in self.kernels.items():
            points[Signature.parse(text).kind][found.work].append(found.time * 1e-6)
        return {kind: _curve(by_work) for kind, by_work in points.items()}


def _curve(by_work: Mapping[float, list[float]]) -> tuple[np.ndarray, np.ndarray]:
    works = sorted(by_work)
    return np.array(works), np.array([np.mean(by_work[work]) for work in works])


def _on_curve(works: np.ndarray, times_s: np.ndarray, work: float, launch_s: float) -> float:
    if work <= works[0]:
        least = min(launch_s, times_s[0])
        return float(least + (times_s[0] - least) * (work / works[0] if works[0] else 1.0))
    if work >= works[-1]:
        return float(times_s[-1] * work / works[-1])
    # A timed size of no work at all has no logarithm.
    return float(np.exp(np.interp(np.log(work), np.log(np.maximum(works, 1.0)), np.log(times_s))))
