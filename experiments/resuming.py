"""How a study begins or goes on: only with the terms that it was started with, unless a person insists."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from optuna.storages import BaseStorage

from ..evaluators.json_file import read_value
from ..policies import Policy
from ..search.advisors import Advisor
from ..search.front import Direction
from ..search.history import history_of
from ..search.parts import stored_documents, studies_among
from ..search.setup import OtherTerms, Terms, changes_of
from ..search.storage import studies_in
from ..search.storage_address import StorageAddress
from ..search.study import Search, stored_terms
from .fingerprint import MAY_CHANGE, refusal
from .home import Home, StudyFolder
from .kept_history import keep_history
from .known_sites import known_sites
from .mirror import bring_study
from .progress import Display
from .study_file import StudyFile, refuse_other_study


@dataclass(frozen=True)
class Stored:
    """A study in its storage. With `anyway` it goes on although some of its terms may have changed."""

    storage: BaseStorage
    address: StorageAddress
    study: str
    anyway: bool = False

    def refuse(self, terms: Terms) -> None:
        """See that the study can go on with these terms, before anything is trained; a new one can.

        Raises:
            InputError: it was started with others; the message has the difference and the ways on.
        """
        stored = stored_terms(self.storage, self._name) or terms
        changes = changes_of({name: texts for name, texts in stored.items() if name in terms}, terms)
        if not set(changes) <= self._may_change:
            raise refusal(changes)

    def open(
        self, advisor: Advisor, direction: Direction, fixed: Sequence[tuple[str, Policy]], terms: Terms
    ) -> Search:
        """The study, with all of its terms checked.

        Raises:
            InputError: as `refuse`.
        """
        try:
            return Search.create(
                self.storage, self._name, advisor, direction, fixed, terms, may_change=self._may_change
            )
        except OtherTerms as error:
            raise refusal(error.changes) from error

    def keep_history(self, folder: StudyFolder) -> None:
        """Keep the trials over sites in the folder, where they are in a database: answers must do without it."""
        if self.address.kind != "journal" and folder.sites_file.exists():
            keep_history(history_of(self.storage, self._name, known_sites(folder).costs), folder)

    @property
    def _name(self) -> str:
        return self.address.prefix(self.study)

    @property
    def _may_change(self) -> frozenset[str]:
        return MAY_CHANGE if self.anyway else frozenset()


def free_name(name: str, home: Home, storage: str | None) -> str:
    """The name of a new study: the name itself, or with the first number that neither home nor storage has yet.

    Raises:
        InputError: the storage's URL is wrong, or the name is.
        HalfwiseError: the storage cannot be read.
    """
    address = StorageAddress.parse(storage, home.study_folder(name).journal_file)
    taken = () if address.kind == "journal" else studies_among(studies_in(address))
    names = (name if number == 1 else f"{name}-{number}" for number in itertools.count(1))
    return next(each for each in names if each not in taken and not home.study_folder(each).path.exists())


def bring_here(stored: Stored, folder: StudyFolder, display: Display) -> None:
    """Bring what a database holds of the study into the folder, where the study was led from another one so far.

    Raises:
        InputError: the folder holds another study of that name.
    """
    if stored.address.kind == "journal":
        return
    if stored.study not in studies_among([each.study_name for each in stored.storage.get_all_studies()]):
        return
    documents = stored_documents(stored.storage, stored.study)
    kept = documents.get(folder.study_file.name)
    if kept is None:
        return
    there = read_value(StudyFile, kept, f"{folder.study_file.name} in {stored.address}")
    if not folder.study_file.exists():
        display.note(
            f"{stored.address} holds this study, which was led from {there.info.folder} so far: it goes on from "
            "here; make sure that no search runs there any more"
        )
    refuse_other_study(
        folder, there, str(stored.address), "start a new one with --new, or name another home with --home"
    )
    bring_study(folder, documents, anew=False)
