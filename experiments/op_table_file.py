"""The op tables of a float32 step in a compressed file, from which any device can be priced without compiling."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from pydantic import JsonValue, TypeAdapter

from ..evaluators.op_columns import COLUMNS
from ..policies.errors import HalfwiseError
from ..policies.plain_json import read_packed_json, reason
from ..policies.whole_file import written_aside
from .inspect_policy import as_written

_TABLES = TypeAdapter(dict[str, list[dict[str, JsonValue]]])


def save_op_tables(tables: Mapping[str, pd.DataFrame], path: Path) -> None:
    """The tables by loss scaling, written aside, then renamed: a reader sees all of them or none.

    Raises:
        NotWritten: the file cannot be written.
    """
    rows = {label: json.loads(table.to_json(orient="records")) for label, table in tables.items()}
    with written_aside(path) as aside:
        aside.write_bytes(gzip.compress(json.dumps(rows).encode(), mtime=0))


def load_op_tables(path: Path) -> dict[str, pd.DataFrame]:
    """The tables as they were compiled.

    Raises:
        HalfwiseError: the file is missing or damaged, lacks a column, or holds more than `plain_json` allows.
    """
    try:
        found = _TABLES.validate_python(read_packed_json(path))
        for row in (row for rows in found.values() for row in rows):
            if missing := [column for column in COLUMNS if column not in row]:
                raise ValueError(f"a row lacks {missing[0]!r}")
    except (OSError, ValueError) as error:
        raise HalfwiseError(f"cannot read the float32 op tables {path}: {reason(error)}") from error
    return {label: pd.DataFrame(rows).apply(as_written) for label, rows in found.items()}
