"""The trials over sites of a study that is stored in a database, kept in its folder for answers without it."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..search.propose import Tried
from .home import StudyFolder


class KeptHistory(BaseModel):
    """`history.json`: the trials as their searcher saw them, by number."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/history/1"] = "halfwise/history/1"
    tried: dict[int, Tried]


def keep_history(tried: Mapping[int, Tried], folder: StudyFolder) -> None:
    """Write `history.json`."""
    write_json(KeptHistory(tried=dict(tried)), folder.history_file)


def kept_history(folder: StudyFolder) -> dict[int, Tried] | None:
    """What was kept; None for a study with a journal of its own.

    Raises:
        HalfwiseError: the file cannot be read.
    """
    return read_json(KeptHistory, folder.history_file).tried if folder.history_file.exists() else None
