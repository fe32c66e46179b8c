"""Stands an assumption in for a figure that nobody has published, so that a price can say what it rests on."""

import datetime

from ...policies.errors import InputError
from .devices import Device, Rate, Unit

BYTES_ONLY = "bytes only"
_AS = "as "


def assume(device: Device, unit: Unit, precision: str, rate: str | float) -> Device:
    """The device with an assumed rate for one unit and precision; its prices say so.

    `rate` is a number in TFLOP/s, "as float16" (such work runs as float16: what some Ascend parts do with float32
    matrix work unless told otherwise), or "bytes only" (its arithmetic is left out: fair for element-wise work,
    which waits for memory).

    Raises:
        InputError: the figure is known, or `rate` is none of the three, or names a precision without a figure.
    """
    known = getattr(device, unit)
    what = f"{precision} {unit} work"
    if precision in known and not known[precision].assumed:
        raise InputError(
            f"device {device.name}: {what} runs at {known[precision]} ({known[precision].source}); to replace a "
            "figure that has a source, give the row in a device file of your own"
        )
    if rate == BYTES_ONLY:
        note = f"{what} is priced by its bytes alone: its rate is not known"
        return device.model_copy(
            update={"bytes_only": device.bytes_only | {(unit, precision)}, "notes": (*device.notes, note)}
        )
    return device.model_copy(update={unit: known | {precision: _assumed(device, unit, what, rate)}})


def _assumed(device: Device, unit: Unit, what: str, rate: str | float) -> Rate:
    if isinstance(rate, str) and rate.startswith(_AS):
        like = getattr(device, unit).get(rate.removeprefix(_AS))
        if like is None:
            raise InputError(
                f"device {device.name}: {what} cannot run {rate}: that {unit} rate is not known either"
            )
        return like.model_copy(update={"assumed": True, "source": f"{what} runs {rate}"})
    if isinstance(rate, str) or not 0 < rate < float("inf"):
        raise InputError(
            f"device {device.name}: {what}: an assumption must be a number of TFLOP/s above 0, 'as PRECISION' or "
            f"'{BYTES_ONLY}'; got {rate!r}"
        )
    return Rate(value=rate, unit="TFLOP/s", source="stated by the user", date=_today(), assumed=True)


def _today() -> datetime.date:
    return datetime.datetime.now(tz=datetime.UTC).date()
