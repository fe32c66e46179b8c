"""The op tables that trials left behind, read back."""

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..evaluators.op_columns import COLUMNS
from ..evaluators.request import OPS_FILE

# A step of a thousand layers takes a few MiB; a file that unpacks to more is not read.
_MOST_BYTES = 256 << 20
_TUPLES = ("input_precisions", "input_shapes", "output_shapes", "producers", "consumers", "parameters")
_NUMBERS = ("flops", "bytes_read", "bytes_written")
_TEXTS = ("layer", "compute_precision", "output_precision", "kernel_precision", "cast_by")
# Tuples as Python writes them, turned into JSON, which cannot run anything.
_AS_JSON = {"(": "[", ")": "]", ",)": "]", "'": '"', "None": "null"}
_PYTHON = re.compile(r",\)|[()']|\bNone\b")


def trial_ops(folder: Path) -> pd.DataFrame | None:
    """The op table in a trial's folder, as `read_op_table` gave it; None where there is none that can be read.

    A trial that shares another's outcome, or ended before it was compiled, has none.
    """
    try:
        with gzip.open(folder / OPS_FILE) as file:
            text = file.read(_MOST_BYTES + 1)
        table = pd.read_csv(io.BytesIO(text), dtype=dict.fromkeys(_TEXTS, object)) if text else None
        if table is None or len(text) > _MOST_BYTES or set(COLUMNS) - set(table.columns):
            return None
        for name in _TUPLES:
            table[name] = [_tuple(value) for value in table[name].fillna("()")]
        for name in _NUMBERS:
            table[name] = pd.to_numeric(table[name]).replace([np.inf, -np.inf], np.nan)
    except (OSError, EOFError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    texts = {name: table[name].astype(object).replace(np.nan, None) for name in _TEXTS}
    return table.assign(**texts).set_index("id", drop=False)


def _tuple(text: str) -> tuple[Any, ...]:
    found = _frozen(json.loads(_PYTHON.sub(lambda part: _AS_JSON[part[0]], text)))
    if not isinstance(found, tuple):
        raise ValueError(f"expected a tuple, got {text[:80]!r}")
    return found


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
