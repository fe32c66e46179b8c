"""Frozen values in JSON files, whole or not there."""

import os
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from ..policies.errors import HalfwiseError

ValueT = TypeVar("ValueT", bound=BaseModel)


def write_json(value: BaseModel, path: Path) -> None:
    """Write aside, then rename: a reader sees the whole value or none."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    aside.write_text(value.model_dump_json(indent=1), encoding="utf-8")
    os.replace(aside, path)


def read_json(kind: type[ValueT], path: Path) -> ValueT:
    """The value in a file.

    Raises:
        HalfwiseError: the file is missing or holds something else.
    """
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HalfwiseError(f"cannot read {path}: {error}") from error
