"""Calibrates the current device, from a process that runs no op itself."""

import datetime
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..device_facts import DeviceFacts
from ..price.devices import DeviceFigures
from ..price.signature import Signature
from ..process import Failure, Limits, ResultT, run_job
from ..request import Request
from .catalogue import catalogue
from .device_row import device_row
from .host import host_name
from .request import (
    CATALOGUE_JOB,
    TIMING_JOB,
    WORKLOAD_JOB,
    CatalogueRequest,
    FoundKernels,
    TimedKernels,
    TimingRequest,
    WorkloadKernelsRequest,
)
from .selection import convolves, worth_timing

# Between them they show a workload's kernels in float32, in low precision, and norms between the two.
_POLICIES = ("O0", "O2", "O3")
_LIMITS = Limits(time_s=900, memory_bytes=16 << 30)
_LEAST_S = 1.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Calibration:
    """A row of the device table, and kernels that have no time in it with the reason."""

    row: DeviceFigures
    left_out: Mapping[str, str]


@dataclass(frozen=True)
class Calibrator:
    """Times kernels of one device; `folder` holds what its jobs leave, an absolute path."""

    device: DeviceFacts
    folder: Path

    def calibrate(self, workloads: Sequence[str], search_path: Path, deadline_s: float, say: Say) -> Calibration:
        """Time the kernels of the workloads first, then those of the catalogue, until `deadline_s`.

        A process as a whole can be slow, by where its memory lies or by its neighbours: the workloads' kernels are
        timed in two, and the lesser time counts.

        `workloads` are references `module:function`, looked for in `search_path`; `deadline_s` is a moment of
        `time.monotonic`. A kernel that was not reached is left out.

        Raises:
            InputError: a workload is wrong, or MindSpore cannot compile it.
            HalfwiseError: a job failed, or there was no time for anything.
        """
        own: dict[str, float] = {}
        for workload in workloads:
            own |= self._workload_kernels(workload, search_path)
            say(f"{workload}: {len(own)} kernels of different shapes up to here")
        general = self._catalogue()
        wanted, works = worth_timing(own, general), general | own
        count = len(wanted.own) + len(wanted.general)
        say(f"timing {count} kernels in {max(0.0, deadline_s - time.monotonic()):.0f} s at most")
        timed = self._time(wanted.own, deadline_s)
        for kernels in (wanted.own, wanted.general):
            timed = timed.joined(self._time(kernels, deadline_s))
        row = device_row(timed, works, host_name(self.device.target), self.device.target, _today())
        return Calibration(row, timed.left_out)

    def _workload_kernels(self, workload: str, search_path: Path) -> dict[str, float]:
        works: dict[str, float] = {}
        for policy in _POLICIES if "float16" in self.device.low_precisions else _POLICIES[:1]:
            request = WorkloadKernelsRequest(
                folder=self.folder / "workload",
                target=self.device.target,
                workload=workload,
                search_path=search_path,
                policy=policy,
            )
            works |= _answer(WORKLOAD_JOB, request, FoundKernels).works
        return works

    def _catalogue(self) -> dict[str, float]:
        kernels = tuple(map(str, catalogue(self.device.low_precisions)))
        request = CatalogueRequest(folder=self.folder / "catalogue", target=self.device.target, kernels=kernels)
        return _answer(CATALOGUE_JOB, request, FoundKernels).works

    def _time(self, wanted: Sequence[Signature], deadline_s: float) -> TimedKernels:
        """Convolutions run in the environment of a network that convolves, everything else in the plain one.

        Everything else comes first: it holds the essentials, without which there is no row.
        """
        convolutions = [kernel for kernel in wanted if convolves(kernel)]
        others = [kernel for kernel in wanted if not convolves(kernel)]
        left_s = deadline_s - time.monotonic()
        # A convolution takes longer to compile and to run than most kernels: it counts twice.
        share = len(others) / (2 * len(convolutions) + len(others))
        first = self._timed(others, left_s * share, convolving=False)
        if not convolutions:
            return first
        return first.joined(self._timed(convolutions, deadline_s - time.monotonic(), convolving=True))

    def _timed(self, kernels: Iterable[Signature], budget_s: float, convolving: bool) -> TimedKernels:
        request = TimingRequest(
            folder=self.folder / "timing",
            target=self.device.target,
            environment=self.device.environment(convolving),
            kernels=tuple(map(str, kernels)),
            budget_s=max(budget_s, _LEAST_S),
        )
        return _answer(TIMING_JOB, request, TimedKernels)


def _answer(job: str, request: Request, kind: type[ResultT]) -> ResultT:
    found = run_job(job, request, kind, _LIMITS)
    if isinstance(found, Failure):
        raise found.as_error()
    return found


def _today() -> datetime.date:
    return datetime.datetime.now(tz=datetime.UTC).date()
