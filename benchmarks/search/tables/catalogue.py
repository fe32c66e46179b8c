"""The networks whose policies are all trained, by name; free of mindspore."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[3]
"""The folder in which references are looked for."""

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """A network: its workload as `module:function`, and the file of its table."""

    name: str
    workload: str
    path: Path


def _entry(name: str) -> Entry:
    return Entry(name, f"benchmarks.search.tables.{name}:make_{name}", _FOLDER / f"{name}.json.gz")


TABLES: Mapping[str, Entry] = MappingProxyType({name: _entry(name) for name in ("sensors", "seasons")})
