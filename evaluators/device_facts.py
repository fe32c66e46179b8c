"""What a search must know of the device before it starts, found out by probes in processes of their own."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from ..policies.errors import HalfwiseError, InputError
from ..policies.precision import LowPrecision
from .device_names import DeviceChoice, Target
from .probe_results import CONVOLUTION_JOB, PRECISION_JOB, ConvolutionProbe, PrecisionProbe
from .process import Failure, Limits, run_job
from .request import ProbeRequest

# The order in which "auto" looks: accelerators first.
AUTO_ORDER: tuple[Target, ...] = ("Ascend", "GPU", "CPU")

# oneDNN's switch away from its reference convolution; does nothing where a fast one is picked anyway.
ISA_VARIABLE = "ONEDNN_MAX_CPU_ISA"
CONVOLUTION_FIX: Mapping[str, str] = {ISA_VARIABLE: "AVX2"}

ProbeT = TypeVar("ProbeT", bound=BaseModel)

_PROBE_LIMITS = Limits(time_s=120, memory_bytes=8 << 30)


@dataclass(frozen=True)
class DeviceFacts:
    """The device's name in MindSpore, the low precisions that it computes, and how it convolves.

    `missing` says for each low precision left out which op was refused, in MindSpore's words. `device_id` is which
    of several devices it is, None for the first.
    """

    target: Target
    low_precisions: tuple[LowPrecision, ...]
    missing: Mapping[str, str]
    reference_convolution: bool
    device_id: int | None = None

    def environment(self, convolves: bool) -> dict[str, str]:
        """What a trial's process gets: the convolution fix where it helps, unless the user set the variable.

        Large matrix products are faster without it, so networks that don't convolve do without.
        """
        if self.reference_convolution and convolves and ISA_VARIABLE not in os.environ:
            return dict(CONVOLUTION_FIX)
        return {}

    def notes(self, convolves: bool) -> tuple[str, ...]:
        """What the user should know, a line each."""
        lines = [
            f"{precision} is left out: {self.target} does not compute {op} in it ({reason})"
            for precision, refusal in self.missing.items()
            for op, reason in [refusal.split(": ", 1)]
        ]
        if self.environment(convolves):
            lines.append(
                "oneDNN would pick its slow reference convolution on this CPU; "
                f"trials run with {ISA_VARIABLE}={CONVOLUTION_FIX[ISA_VARIABLE]}"
            )
        return tuple(lines)


def learn_device(choice: DeviceChoice, folder: Path, device_id: int | None = None) -> DeviceFacts:
    """Find the device and what it can do; "auto" takes the first of Ascend, GPU, CPU that answers.

    Raises:
        InputError: a device is named by its number, but the machine computes on its CPU.
        HalfwiseError: MindSpore cannot use the device that was asked for; its own words are quoted. Or a process
            that tried the device was cut short, by the system's out-of-memory killer say: that is no answer, and
            the next device, or one precision less, would be a wrong one.
    """
    target, half = _find(choice, folder, device_id)
    if target == "CPU" and device_id is not None:
        raise InputError(
            f"device {device_id} was asked for, but training runs on the CPU here, which has no numbers: leave "
            "devices out, or name the kind with --device GPU or --device Ascend"
        )
    probes = {"float16": half, "bfloat16": _probe(target, "bfloat16", folder, device_id)}
    missing = {name: _refusal(probe) for name, probe in probes.items() if _refusal(probe)}
    convolution = None
    if target == "CPU":
        request = ProbeRequest(folder=folder / "convolution", target=target, environment={"ONEDNN_VERBOSE": "1"})
        convolution = _tried(target, run_job(CONVOLUTION_JOB, request, ConvolutionProbe, _PROBE_LIMITS))
    return DeviceFacts(
        target=target,
        low_precisions=tuple(name for name in ("float16", "bfloat16") if name not in missing),
        missing=missing,
        reference_convolution=isinstance(convolution, ConvolutionProbe) and convolution.reference,
        device_id=device_id,
    )


def _find(choice: DeviceChoice, folder: Path, device_id: int | None) -> tuple[Target, PrecisionProbe]:
    refused = []
    for target in AUTO_ORDER if choice == "auto" else (choice,):
        probe = _probe(target, "float16", folder, None if target == "CPU" else device_id)
        if isinstance(probe, PrecisionProbe):
            return target, probe
        refused.append(probe.as_error())
    raise HalfwiseError("; ".join(str(error) for error in refused))


def _probe(
    target: Target, precision: LowPrecision, folder: Path, device_id: int | None
) -> PrecisionProbe | Failure:
    place = folder / f"{target}-{precision}"
    request = ProbeRequest(folder=place, target=target, device_id=device_id, precision=precision)
    return _tried(target, run_job(PRECISION_JOB, request, PrecisionProbe, _PROBE_LIMITS))


def _tried(target: Target, probe: ProbeT | Failure) -> ProbeT | Failure:
    if isinstance(probe, Failure) and probe.is_from_outside:
        raise HalfwiseError(f"what {target} can compute could not be found out: {probe.as_error()}")
    return probe


def _refusal(probe: PrecisionProbe | Failure) -> str:
    """The op that the device refused in a precision, and why, as `op: reason`; nothing where it computes."""
    if isinstance(probe, Failure):
        return f"anything: {probe.cause}: {probe.message}"
    return "; ".join(f"{op}: {reason}" for op, reason in probe.missing.items())
