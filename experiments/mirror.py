"""How the processes of one study see each other's files: through a folder that they share, or through the storage.

In each folder stands a whole study: everything that is shown of one is worked out from the files there.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..policies.whole_file import written_aside
from ..search.documents import Documents
from ..search.storage_address import StorageAddress
from ..search.study import Search
from .home import StudyFolder

_TRIAL_FILES = ("policy.yaml", "outcome.json")
# A name that comes from the storage becomes a path only if it is that of a ledger.
_LEDGER = re.compile(r"cost\.json|workers/[A-Za-z0-9][A-Za-z0-9_-]{0,99}/cost\.json")


class Mirror(Protocol):
    """Told of what a process has written, before anybody else may count on it; asked for what others have."""

    def publish(self) -> None:
        """The files about the study itself are as they stand in the folder now."""
        ...

    def hand_in(self, number: int) -> None:
        """The trial's policy and outcome are as they stand in its folder now."""
        ...

    def fetch(self, numbers: Iterable[int]) -> None:
        """Bring the outcomes of these trials, as far as they can be had."""
        ...

    def level_costs(self) -> None:
        """Give the own ledger, and bring those of the others."""
        ...


class SharedFolder:
    """All processes see the same folder: there is nothing to do."""

    def publish(self) -> None:
        """Nothing."""

    def hand_in(self, number: int) -> None:
        """Nothing."""

    def fetch(self, numbers: Iterable[int]) -> None:
        """Nothing."""

    def level_costs(self) -> None:
        """Nothing."""


@dataclass(frozen=True)
class ThroughStorage:
    """Each machine has a folder of its own, and the storage holds what others need of it.

    What lies in the folder already is left as it is, but for the others' ledgers. `ledger` is this process's own.
    """

    folder: StudyFolder
    search: Search
    ledger: Path

    def publish(self) -> None:
        """Put every file that others start from into the storage."""
        for file in study_files(self.folder):
            if file.exists():
                self.search.documents.put(file.name, file.read_bytes())

    def hand_in(self, number: int) -> None:
        """Attach policy and outcome to the trial."""
        place = self.folder.trial_folder(number)
        for name in _TRIAL_FILES:
            self.search.documents.attach(number, name, (place / name).read_bytes())

    def fetch(self, numbers: Iterable[int]) -> None:
        """Write the outcomes that the folder lacks; a trial without an attached one is passed over."""
        for number in numbers:
            place = self.folder.trial_folder(number)
            for name in _TRIAL_FILES:
                if (
                    not (place / name).exists()
                    and (data := self.search.documents.attachment(number, name)) is not None
                ):
                    _write(place / name, data)

    def level_costs(self) -> None:
        """Put the own ledger into the storage, and write the others' as they stand there."""
        own = self.ledger.relative_to(self.folder.path).as_posix()
        if self.ledger.exists():
            self.search.documents.put(own, self.ledger.read_bytes())
        for name in self.search.documents.names():
            if name != own and _LEDGER.fullmatch(name) and (data := self.search.documents.get(name)) is not None:
                _write(self.folder.path / name, data)


def mirror_of(address: StorageAddress, folder: StudyFolder, search: Search, ledger: Path) -> Mirror:
    """The mirror that goes with a storage: a journal lies in a folder that all of its processes share."""
    return SharedFolder() if address.kind == "journal" else ThroughStorage(folder, search, ledger)


def study_files(folder: StudyFolder) -> tuple[Path, ...]:
    """The files about the study itself that others start from, whether or not they are there."""
    return (
        folder.experiment_file,
        folder.study_file,
        folder.survey_file,
        folder.workload_file,
        folder.float32_file,
        folder.sensitivity_file,
        folder.sites_file,
        folder.float32_ops_file,
        folder.cost_file,
    )


def bring_study(folder: StudyFolder, documents: Documents, anew: bool) -> None:
    """Write the files about the study from the storage: all of them `anew`, or those that the folder lacks."""
    for file in study_files(folder):
        if (anew or not file.exists()) and (data := documents.get(file.name)) is not None:
            _write(file, data)


def _write(file: Path, data: bytes) -> None:
    """Nothing is written where these very bytes stand already: ledgers are asked for again and again."""
    if file.exists() and file.read_bytes() == data:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_aside(file) as aside:
        aside.write_bytes(data)
