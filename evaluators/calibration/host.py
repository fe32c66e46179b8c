"""The name of the processor or card that figures hold for."""

import platform
from pathlib import Path

from ...policies.errors import InputError
from ..price.devices import Device

_CPU_INFO = Path("/proc/cpuinfo")


def host_name(target: str) -> str:
    """The CPU's model name as the system gives it, or MindSpore's target on this kind of machine.

    MindSpore names no card's model without computing on it, so an accelerator is called by its target.
    """
    return _cpu_model() if target == "CPU" else f"{target} beside {_cpu_model()}"


def refuse_other_host(device: Device, target: str) -> None:
    """Refuse a calibrated device on another host than its own: kernels, and their times, differ there.

    Raises:
        InputError: the host is another one; the message names both.
    """
    host = host_name(target)
    if device.timings is not None and device.timings.host != host:
        raise InputError(
            f"device {device.name} was calibrated on {device.timings.host}, and its kernels can be priced there "
            f"only; this machine computes on {host}: run halfwise calibrate here, or choose a row that is not "
            "calibrated"
        )


def _cpu_model() -> str:
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next((name for name in names if name), platform.processor() or platform.machine())
