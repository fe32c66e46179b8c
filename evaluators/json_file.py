"""Frozen values in JSON files, whole or not there."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from ..policies.errors import HalfwiseError
from ..policies.plain_file import read_bytes
from ..policies.plain_json import MAX_JSON_BYTES, parse_json, reason
from ..policies.whole_file import write_text

ValueT = TypeVar("ValueT", bound=BaseModel)


def write_json(value: BaseModel, path: Path) -> None:
    """Write aside, then rename: a reader sees the whole value or what stood there before.

    Raises:
        NotWritten: the file cannot be written.
    """
    write_text(path, value.model_dump_json(indent=1))


def read_json(kind: type[ValueT], path: Path) -> ValueT:
    """The value in a file.

    Raises:
        HalfwiseError: the file is missing, holds something else, or more than `plain_json` allows.
    """
    try:
        content = read_bytes(path, MAX_JSON_BYTES)
    except OSError as error:
        raise HalfwiseError(f"cannot read {path}: {reason(error)}") from error
    return read_value(kind, content, str(path))


def read_value(kind: type[ValueT], content: bytes, source: str) -> ValueT:
    """The value in the content of a file; `source` is what errors call it.

    Raises:
        HalfwiseError: it holds something else, or more than `plain_json` allows.
    """
    try:
        parse_json(content)
        return kind.model_validate_json(content)
    except ValueError as error:
        raise HalfwiseError(f"cannot read {source}: {reason(error)}") from error
