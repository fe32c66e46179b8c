"""Policies that were asked for after the search and trained then: kept, so that the next answer knows of them."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..search.propose import CostModel, Tried
from .confirmation import Confirmation
from .home import StudyFolder

_FILE = "answer.json"


class Answer(BaseModel):
    """What came of one: its choices by site, the sites that a diagnosis named, and its confirmation."""

    model_config = ConfigDict(frozen=True)

    choices: Mapping[str, str]
    blamed: tuple[str, ...] = ()
    asked_hash: str | None = None
    confirmation: Confirmation

    def tried(self, costs: CostModel) -> Tried:
        """As a searcher sees it."""
        lost = self.confirmation.lost
        blamed = frozenset(place for place, site in enumerate(costs.sites) if site.name in self.blamed)
        return Tried(costs.placed(self.choices), None if lost is None else lost.mean, blamed)


def keep_answer(answer: Answer, folder: StudyFolder, digest: str) -> None:
    """Write it into the study's folder, under the digest of its policy."""
    place = folder.path / "answers" / digest
    place.mkdir(parents=True, exist_ok=True)
    write_json(answer, place / _FILE)


def answers_of(folder: StudyFolder) -> list[Answer]:
    """All that were kept."""
    return [read_json(Answer, file) for file in sorted((folder.path / "answers").glob(f"*/{_FILE}"))]
