"""Times as people write them: 90s, 20m, 1h30m."""

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator

_WRITTEN = re.compile(r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")
_LONGEST = timedelta(days=3653)
_UNITS = ("days", "hours", "minutes", "seconds")


def parse_duration(value: Any) -> timedelta:
    """The time that a text such as "1h30m" stands for; a bare number has no unit and is refused.

    Raises:
        ValueError: it is no time above 0 and up to ten years; the message says how to write one.
    """
    if isinstance(value, timedelta):
        return value
    match = _WRITTEN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is not None and any(match.groups()):
        amounts = {unit: float(amount) for unit, amount in zip(_UNITS, match.groups(), strict=True) if amount}
        # Beyond that a timedelta itself may overflow.
        if max(amounts.values()) < 1e8 and timedelta(0) < (time := timedelta(**amounts)) < _LONGEST:
            return time
    raise ValueError(f"must be a time above 0 with its unit, such as 90s, 20m or 1h30m, but got {value!r}")


def duration_text(time: timedelta) -> str:
    """The time as people write it, such as "1h30m"; `parse_duration` reads it back, to the microsecond."""
    hours, rest = divmod(time, timedelta(hours=1))
    minutes, rest = divmod(rest, timedelta(minutes=1))
    seconds = f"{rest.total_seconds():.6f}".rstrip("0").rstrip(".")
    parts = [f"{hours}h" if hours else "", f"{minutes}m" if minutes else "", f"{seconds}s" if rest else ""]
    return "".join(parts)


Duration = Annotated[timedelta, PlainValidator(parse_duration), PlainSerializer(duration_text, when_used="json")]
"""A time in a file or on the command line."""
