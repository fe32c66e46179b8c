"""The file that holds a study: Optuna's journal, opened so that what a killed process left does no harm."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from ..policies.errors import HalfwiseError

# A write holds the lock for milliseconds: one older than this was left by a process that was killed.
STALE_LOCK_S = 5


@contextmanager
def journal_errors(path: Path) -> Generator[None, None, None]:
    """Turn what the operating system says about the file into one clear error."""
    try:
        yield
    except OSError as error:
        raise HalfwiseError(f"cannot open the study's journal {path}: {error.strerror or error}") from error


def open_journal(path: Path) -> JournalStorage:
    """The storage in a file, which is made if it is not there.

    Raises:
        HalfwiseError: a line of the file (other than the last) is damaged.
        OSError: the file cannot be read or made.
    """
    # The lock is a symbolic link to this path: if relative, it points nowhere, and Optuna waits for ever.
    path = path.resolve()
    if path.exists():
        _drop_torn_line(path)
    lock = JournalFileSymlinkLock(str(path), grace_period=STALE_LOCK_S)
    return JournalStorage(JournalFileBackend(str(path), lock))


def _drop_torn_line(path: Path) -> None:
    """Cut off a last line that was not written to its end; Optuna would write on behind it and lose both."""
    lines = path.read_bytes().splitlines(keepends=True)
    bad = [number for number, line in enumerate(lines, start=1) if not _whole(line)]
    if not bad:
        return
    if bad[0] < len(lines):
        raise HalfwiseError(
            f"line {bad[0]} of the study's journal {path} is damaged, so the study cannot go on; "
            "start one under another name (the results of finished trials are still in this one's folder)"
        )
    with path.open("r+b") as file:
        file.truncate(sum(map(len, lines[:-1])))


def _whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return line.endswith(b"\n")
