"""Where a study is stored, as a person writes it: a URL, or nothing for the journal in the study's folder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Self
from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ..policies.errors import InputError

_ALLOWED = (
    "allowed are postgresql://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE, sqlite:///FILE for one worker, and "
    "no URL at all for a journal in the study's folder"
)
# The driver that SQLAlchemy is to use for each kind of database.
_DRIVERS: Mapping[str, str] = MappingProxyType(
    {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "sqlite": "sqlite"}
)
_SCHEME = re.compile(r"([a-z][a-z0-9+]{0,30})://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StorageAddress:
    """A journal file (`path`), or a database (`url`); as text it never shows a password, nor any option."""

    kind: str
    path: Path | None = None
    url: URL | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str | None, journal_path: Path) -> Self:
        """The address that a URL names; without one, the journal at a path.

        Raises:
            InputError: it is no URL, or that of another kind of storage. The message holds no password.
        """
        if url is None:
            return cls("journal", path=journal_path)
        kind = _kind(url)
        if url.count("@") > 1:
            raise InputError(
                f"the storage URL {kind}://... has more than one '@': in a name or password write %40"
            )
        try:
            parsed = make_url(url)
        except (ArgumentError, ValueError) as error:
            raise InputError(f"the storage URL {kind}://... cannot be read: {_ALLOWED}") from error
        _refuse_parts(kind, parsed)
        return cls(kind, url=parsed.set(drivername=_DRIVERS[kind]))

    @property
    def several_workers(self) -> bool:
        """Whether several workers may share it: a journal those of one machine, a database server any."""
        return self.kind != "sqlite"

    def refuse_one_worker_only(self) -> None:
        """Let the storage be used by several workers.

        Raises:
            InputError: it is sqlite's, which locks its whole file for each write.
        """
        if not self.several_workers:
            raise InputError(
                f"{self} cannot be shared by several workers: sqlite locks its whole file for each write, and a "
                "worker that waits too long fails. Leave out --storage for workers on one machine (a journal in "
                "the study's folder), or use postgresql:// for several machines"
            )

    def prefix(self, study: str) -> str:
        """What a study is called inside: its name in a database; nothing in a journal, which holds one study."""
        return "" if self.kind == "journal" else study

    def reveal(self) -> str | None:
        """The URL with its password, for a process to hand on where nobody looks; None for a journal."""
        return None if self.url is None else self.url.set(drivername=self.kind).render_as_string(False)

    def hide(self, text: str) -> str:
        """A text, such as a driver's message, with the address's secrets taken out."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def __str__(self) -> str:
        """Kind, user, host and database."""
        if self.url is None:
            return str(self.path)
        plain = self.url.set(drivername=self.kind, query={})
        return plain.render_as_string(hide_password=True)

    def _secrets(self) -> set[str]:
        if self.url is None:
            return set()
        values = [
            value for each in self.url.query.values() for value in ((each,) if isinstance(each, str) else each)
        ]
        passwords = [] if self.url.password is None else [str(self.url.password)]
        return {form for value in (*values, *passwords) if value for form in _written(value)}


def _written(secret: str) -> set[str]:
    """How a secret may be written in a URL; SQLAlchemy leaves spaces and plus signs as they are."""
    return {secret, quote(secret), quote(secret, safe=""), quote(secret, safe=" +"), quote_plus(secret)}


def _kind(url: str) -> str:
    """The kind of storage; of a wrong URL the scheme alone is shown, since a password may stand anywhere."""
    scheme = _SCHEME.match(url)
    if scheme is None:
        raise InputError(f"what was given as storage is no URL: {_ALLOWED}")
    kind = scheme[1].lower()
    if kind.startswith("redis"):
        raise InputError(
            f"storage {kind}:// is refused: Optuna's snapshots in Redis are unpickled, so whoever writes to the "
            f"server could run code here; {_ALLOWED}"
        )
    if kind not in _DRIVERS:
        raise InputError(f"unknown kind of storage {kind}://: {_ALLOWED}")
    return kind


def _refuse_parts(kind: str, url: URL) -> None:
    if kind == "sqlite":
        if url.host or not url.database or url.database == ":memory:":
            raise InputError("a sqlite storage needs a file: sqlite:///relative.db or sqlite:////absolute.db")
        return
    if not url.database:
        raise InputError(f"the storage URL {kind}://... names no database: {kind}://USER@HOST/DATABASE")
