"""JSON that is only data: bounded in size and nesting, and with one meaning."""

import gzip
import io
import json
import math
import os
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import from_json

from .canonical import printable
from .plain_file import read_bytes

MAX_JSON_BYTES = 2**26
MAX_UNPACKED_BYTES = 2**27
MAX_JSON_NESTING = 50
_LONGEST_REASON = 300


def read_packed_json(path: str | os.PathLike[str]) -> Any:
    """What a JSON file packed by gzip holds; packed it may have 64 MiB, unpacked 128.

    Raises:
        OSError: it cannot be read, or is not whole.
        ValueError: it unpacks to more, or as `parse_json`.
    """
    packed = io.BytesIO(read_bytes(path, MAX_JSON_BYTES))
    try:
        content = gzip.GzipFile(fileobj=packed).read(MAX_UNPACKED_BYTES + 1)
    except (EOFError, zlib.error) as error:
        raise ValueError(f"it is not whole: {error}") from error
    if len(content) > MAX_UNPACKED_BYTES:
        raise ValueError(f"it unpacks to more than {MAX_UNPACKED_BYTES} bytes, the most that is read")
    return parse_json(content)


def parse_json(content: bytes) -> Any:
    """The plain value that UTF-8 JSON holds.

    Raises:
        ValueError: it is not JSON, nests deeper than 50 levels, names a key twice in one object, or holds NaN,
            an infinity, a number beyond 64 bits or half of a surrogate pair.
    """
    # This parser has a limit to its nesting; Python's own would follow as deep as the stack allows, or deeper.
    from_json(content, allow_inf_nan=False)
    value = json.loads(content, object_pairs_hook=_object, parse_int=_integer, parse_float=_finite)
    if _nesting(value) > MAX_JSON_NESTING:
        raise ValueError(f"it nests deeper than {MAX_JSON_NESTING} levels")
    return value


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be read, in one short line."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        text = ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))
    elif isinstance(error, OSError):
        text = error.strerror or str(error)
    else:
        text = str(error)
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}..."


def _object(pairs: Sequence[tuple[str, Any]]) -> Mapping[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        double = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"the key {double[:60]!r} stands twice in one object")
    return entries


def _integer(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= (value := int(text)) < 2**63:
        raise ValueError(f"integers must fit 64 bits; got {text[:40]}")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"numbers must be finite; got {text[:40]}")
    return value


def _nesting(value: Any) -> int:
    """How deep objects and lists stand in one another; the parser has bounded it already."""
    if not isinstance(value, dict | list):
        return 0
    inner = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return 1 + max(map(_nesting, inner), default=0)
