"""How halfwise talks to an MLflow store: bounded waits, no chatter, one kind of error."""

import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..policies.errors import InputError
from .tracking import TrackingError

_SERVERS = ("http", "https")
_DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
_LOCK_WAIT_S = 10
_LONGEST_ERROR = 400
# What the user has set wins. By default MLflow retries for minutes, announces every run on standard output,
# and reports usage to its makers.
_SETTINGS = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


def check_uri(uri: str) -> None:
    """See that MLflow can use the URI.

    Raises:
        InputError: it is of a kind that MLflow does not take, such as a bare folder.
    """
    scheme = urlsplit(uri).scheme.partition("+")[0]
    if scheme not in (*_SERVERS, *_DATABASES):
        raise InputError(
            f"the tracking URI must be a server (http://…, https://…) or a database "
            f"(sqlite:////absolute/path.db, postgresql://…, mysql://…, mssql://…), "
            f"but got {_without_password(uri)!r}"
        )


def is_server(uri: str) -> bool:
    """Whether the URI leads to an MLflow server, which decides itself where artifacts go."""
    return urlsplit(uri).scheme in _SERVERS


@contextmanager
def store_calls(uri: str, doing: str) -> Iterator[None]:
    """For MLflow calls: waits are bounded, nothing is printed, and what goes wrong is one line.

    Raises:
        TrackingError: MLflow did not do it.
    """
    try:
        with _environment(_SETTINGS), _quiet("mlflow", "alembic"):
            yield
    # MLflow lets through what its HTTP client, its database driver and the file system raise.
    except Exception as error:
        raise TrackingError(f"MLflow at {_without_password(uri)} {doing}: {_one_line(error, uri)}") from error


def check_sqlite(uri: str) -> None:
    """Open and lock the file of a sqlite URI for a moment; anything else is left alone.

    MLflow itself tries again for 100 seconds before it says that it cannot open a file.

    Raises:
        OSError: its folder cannot be made.
        sqlite3.Error: it cannot be opened or written to, or is no database.
    """
    if not uri.startswith("sqlite:///"):
        return
    path = Path(unquote(uri.removeprefix("sqlite:///").partition("?")[0]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=_LOCK_WAIT_S)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.rollback()


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    added = [name for name in settings if name not in os.environ]
    os.environ.update({name: settings[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _quiet(*names: str) -> Iterator[None]:
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _without_password(uri: str) -> str:
    parts = urlsplit(uri)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else uri


def _one_line(error: Exception, uri: str) -> str:
    words = " ".join((str(error) or type(error).__name__).split())
    # MLflow repeats the URI in its messages, with the password.
    secret = urlsplit(uri).netloc.rpartition("@")[0]
    words = words.replace(f"{secret}@", "") if secret else words
    return words if len(words) <= _LONGEST_ERROR else words[: _LONGEST_ERROR - 1] + "…"
