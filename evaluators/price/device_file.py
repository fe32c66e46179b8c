"""Reads device files: the table that comes with halfwise, and rows of the user's own over it."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ...policies.document import read_document
from ...policies.errors import InputError
from .devices import Device, DeviceFigures

BUILTIN_FILE = Path(__file__).with_name("devices.yaml")


class DeviceFile(BaseModel):
    """A device file: rows by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["halfwise/devices/1"] = Field(alias="schema")
    devices: dict[str, DeviceFigures]


def load_devices(extra: Path | None = None) -> Mapping[str, Device]:
    """Every known device by name; a row of `extra` replaces the row of that name as a whole.

    Raises:
        InputError: a file can't be read, or something in it is wrong (file:line:column each).
    """
    rows = dict(_read(BUILTIN_FILE))
    if extra is not None:
        rows |= _read(extra)
    return MappingProxyType({name: Device(name=name, **dict(row)) for name, row in rows.items()})


def _read(file: Path) -> Mapping[str, DeviceFigures]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: is not UTF-8 text (byte {error.start})") from error
    return read_document(text, str(file), DeviceFile).devices
