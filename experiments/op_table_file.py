"""The op tables of a float32 step in a compressed file, from which any device can be priced without compiling."""

import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..policies.errors import HalfwiseError
from .inspect_policy import as_written


def save_op_tables(tables: Mapping[str, pd.DataFrame], path: Path) -> None:
    """The tables by loss scaling, written aside, then renamed: a reader sees all of them or none."""
    rows = {label: json.loads(table.to_json(orient="records")) for label, table in tables.items()}
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    aside.write_bytes(gzip.compress(json.dumps(rows).encode(), mtime=0))
    os.replace(aside, path)


def load_op_tables(path: Path) -> dict[str, pd.DataFrame]:
    """The tables as they were compiled.

    Raises:
        HalfwiseError: the file is missing or damaged.
    """
    try:
        found = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise HalfwiseError(f"cannot read the float32 op tables {path}: {error}") from error
    return {label: pd.DataFrame(rows).apply(as_written) for label, rows in found.items()}
