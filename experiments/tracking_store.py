"""How halfwise talks to an MLflow store: bounded waits, no chatter, one kind of error."""

import logging
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mlflow import environment_variables

from .tracking import TrackingError
from .tracking_uri import without_password

_LOCK_WAIT_S = 2
_LONGEST_ERROR = 400
# By default MLflow retries for minutes, blindly, so that a run whose answer is lost is made twice; it announces
# every run on standard output, and reports usage to its makers. What stands in the environment wins over these.
_DEFAULTS = {
    environment_variables.MLFLOW_HTTP_REQUEST_MAX_RETRIES: 0,
    environment_variables.MLFLOW_HTTP_REQUEST_TIMEOUT: 10,
    environment_variables.MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT: True,
    environment_variables.MLFLOW_DISABLE_TELEMETRY: True,
    environment_variables.MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR: False,
}
_MLFLOWS_OWN = {variable: variable.default for variable in _DEFAULTS}


@contextmanager
def store_calls(uri: str, doing: str) -> Iterator[None]:
    """For MLflow calls: waits are bounded, nothing is printed, and what goes wrong is one line.

    Raises:
        TrackingError: MLflow did not do it.
    """
    try:
        with _OURS.in_force(), _quiet("mlflow", "alembic"):
            yield
    # MLflow lets through what its HTTP client, its database driver and the file system raise.
    except Exception as error:
        raise TrackingError(f"MLflow at {without_password(uri)} {doing}: {_one_line(error, uri)}") from error


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


class _Defaults:
    """Our defaults in place of MLflow's, for as long as any thread of this process needs them.

    The environment itself is left alone: child processes would inherit it, and another thread may be starting one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0

    @contextmanager
    def in_force(self) -> Iterator[None]:
        self._use(1)
        try:
            yield
        finally:
            self._use(-1)

    def _use(self, change: int) -> None:
        with self._lock:
            self._users += change
            for variable, value in (_DEFAULTS if self._users else _MLFLOWS_OWN).items():
                variable.default = value


# MLflow's defaults belong to the process, so who needs them is counted for the process too.
_OURS = _Defaults()


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


def _network_words(error: BaseException | None) -> str | None:
    """What the network said, such as "Connection refused", below the layers that put it in their own words."""
    while error is not None:
        if isinstance(error, ConnectionError | TimeoutError | socket.gaierror):
            return error.strerror or str(error)
        error = error.__cause__ or error.__context__
    return None


def _one_line(error: Exception, uri: str) -> str:
    words = " ".join((_network_words(error) or str(error) or type(error).__name__).split())
    # MLflow repeats the URI in its messages, with the password.
    secret = urlsplit(uri).netloc.rpartition("@")[0]
    words = words.replace(f"{secret}@", "") if secret else words
    return words if len(words) <= _LONGEST_ERROR else words[: _LONGEST_ERROR - 1] + "…"
