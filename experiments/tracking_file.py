"""`tracking.json` in a study's folder: which store has a copy of the study, and how the search ended for it."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from .home import StudyFolder


class TrackingFile(BaseModel):
    """`uri` is the store's, without a password; `run` the study's run there, once it is known.

    `failed` is the message of the error that ended the search, if one did.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/tracking/1"] = "halfwise/tracking/1"
    uri: str
    run: str | None = None
    failed: str | None = None


def read_tracking(folder: StudyFolder) -> TrackingFile | None:
    """What is known of the study's copy; None where there was none so far.

    Raises:
        HalfwiseError: the file holds something else.
    """
    file = _file(folder)
    return read_json(TrackingFile, file) if file.exists() else None


def write_tracking(value: TrackingFile, folder: StudyFolder) -> None:
    """Write it down.

    Raises:
        NotWritten: the file cannot be written.
    """
    write_json(value, _file(folder))


def run_in(folder: StudyFolder, uri: str) -> str | None:
    """The study's run in this store, as far as it is known."""
    kept = read_tracking(folder)
    return kept.run if kept is not None and kept.uri == uri else None


def failure_of(folder: StudyFolder) -> str | None:
    """The message of the error that ended the study's search, if one did."""
    kept = read_tracking(folder)
    return None if kept is None else kept.failed


def forget_failure(folder: StudyFolder) -> None:
    """The search goes on, so nothing has ended it."""
    if (kept := read_tracking(folder)) is not None and kept.failed is not None:
        write_tracking(kept.model_copy(update={"failed": None}), folder)


def _file(folder: StudyFolder) -> Path:
    return folder.path / "tracking.json"
