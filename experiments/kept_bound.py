"""A study's bound, kept from its search's end: to work it out takes the search's beliefs, and a second or more."""

import hashlib
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..search.propose.bound import Bound
from .home import StudyFolder
from .records import StudySummary


class KeptBound(BaseModel):
    """`bound.json`: the bound, and a hash of all that it was worked out from."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/bound/1"] = "halfwise/bound/1"
    of: str
    bound: Bound


def keep_bound(bound: Bound, summary: StudySummary, folder: StudyFolder) -> None:
    """Write `bound.json`."""
    write_json(KeptBound(of=_hash(summary, folder), bound=bound), folder.bound_file)


def kept_bound(summary: StudySummary, folder: StudyFolder) -> Bound | None:
    """What was kept, if the study has come to the same since then: sites, trials, confirmations, choice.

    Raises:
        HalfwiseError: the file cannot be read.
    """
    if not folder.bound_file.exists():
        return None
    kept = read_json(KeptBound, folder.bound_file)
    return kept.bound if kept.of == _hash(summary, folder) else None


def _hash(summary: StudySummary, folder: StudyFolder) -> str:
    content = hashlib.sha256(folder.sites_file.read_bytes())
    content.update(repr((summary.best, summary.points)).encode())
    return content.hexdigest()
