"""What data parallelism adds to a step: every device gets the sum of all devices' gradients."""

import re
from dataclasses import dataclass

from ...policies.errors import InputError
from .devices import Device
from .memory import Memory

_STRATEGY = re.compile(r"data=([1-9][0-9]{0,5})")


@dataclass(frozen=True)
class GradientSum:
    """One sum of all gradients over so many `devices`: the bytes that each of them sends, and the seconds.

    `assumptions` are what it takes for granted, in words.
    """

    devices: int
    bytes_sent: int
    seconds: float
    assumptions: tuple[str, ...]


def devices_of(strategy: str) -> int:
    """The devices of a parallel strategy as a person writes it, `data=8`: each trains on a batch of its own.

    Raises:
        InputError: it is no such text.
    """
    match = _STRATEGY.fullmatch(strategy)
    if match is None:
        raise InputError(
            f"a parallel strategy is data=N, with 1 to 999999 for N, such as data=8, but got {strategy!r}; layers "
            "that are split over devices have no price"
        )
    return int(match[1])


def gradient_sum(memory: Memory, device: Device, devices: int) -> GradientSum:
    """Price the sum as a ring makes it, over links between equal devices; one device has nothing to send.

    Each of n devices sends, and gets at the same time, 2 (n - 1) / n of the gradients' bytes, and no scheme gets
    by with less (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009).
    A published link counts both directions together. Gradients are float32 under every policy, as the weights
    are, so a policy changes the rest of the step only.

    Raises:
        InputError: the device's link is not known.
    """
    if devices == 1:
        return GradientSum(1, 0, 0.0, ())
    sent = 2 * (devices - 1) * memory.gradient_bytes // devices
    return GradientSum(
        devices=devices,
        bytes_sent=sent,
        seconds=sent / (device.link_bytes_per_s / 2),
        assumptions=(
            "gradients are summed in float32, in one piece, after the backward pass: what overlaps with it is not "
            "modelled, nor how long a message takes to start",
            f"all {devices} devices are joined by links of this speed: between machines a link is slower",
        ),
    )
