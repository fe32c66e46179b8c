"""Reads and writes device files: the table that comes with halfwise, and rows of the user's own over it."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from ...policies.document import read_document
from ...policies.plain_file import read_text
from ...policies.whole_file import write_text
from .devices import Device, DeviceFigures

SCHEMA = "halfwise/devices/1"
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


def save_devices(rows: Mapping[str, DeviceFigures], file: Path) -> None:
    """Write rows as a device file, aside and then renamed: a reader sees all of it or what was there.

    Raises:
        NotWritten: the file can't be written.
    """
    document = {
        "schema": SCHEMA,
        "devices": {name: row.model_dump(exclude_none=True, exclude_defaults=True) for name, row in rows.items()},
    }
    write_text(file, _yaml(document))


class _Dumper(yaml.SafeDumper):
    """PyYAML's writer without anchors, which device files may not hold; a figure takes one line."""

    def ignore_aliases(self, data: Any) -> bool:
        """Always."""
        return True


def _yaml(document: Mapping[str, Any]) -> str:
    return yaml.dump(
        document, Dumper=_Dumper, default_flow_style=None, sort_keys=False, allow_unicode=True, width=1000
    )


def _read(file: Path) -> Mapping[str, DeviceFigures]:
    return read_document(read_text(file), str(file), DeviceFile).devices
