"""Where the studies of these tests are kept: in a journal, or in a PostgreSQL server."""

import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from halfwise.search.advisors import Advisor, SamplerAdvisor
from halfwise.search.patient_storage import PATIENCE_S
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress
from halfwise.search.study import Search

from .fake_search import LEVELS, small_space


@dataclass(frozen=True)
class Place:
    """Room for one study."""

    address: StorageAddress
    study: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def prefix(self) -> str:
        """What the study is called in the storage."""
        return self.address.prefix(self.study)

    def open(self, sampler: str | Advisor = "random", patience_s: float = PATIENCE_S, **changes: Any) -> Search:
        """The study, as one more process would open it; left out, the owner is this very process."""
        advisor = SamplerAdvisor(sampler, small_space(), 0) if isinstance(sampler, str) else sampler
        terms = {"quality_direction": "maximize", "fixed": LEVELS[:1], **changes}
        return Search.create(open_storage(self.address, patience_s), self.prefix, advisor, **terms)


def journal_in(folder: Path) -> Place:
    """A study in a journal."""
    return Place(StorageAddress.parse(None, folder / "journal.log"))


def database_at(url: str) -> Place:
    """A study of its own in a database."""
    return Place(StorageAddress.parse(url, Path("unused")))
