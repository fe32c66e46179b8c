"""Writes a file so that a reader finds all of it, or what stood there before, whatever happens meanwhile."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import HalfwiseError

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
"""The error numbers of a full disk and of a quota that is used up."""

_REASONS = {
    errno.ENOSPC: "no space is left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "its folder does not exist",
    errno.ENOTDIR: "its folder does not exist",
}


class NotWritten(HalfwiseError):
    """A file could not be written; what stood there before still does."""

    def __init__(self, path: str | os.PathLike[str], error: OSError) -> None:
        """Words for what the operating system said of a path."""
        reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
        super().__init__(f"cannot write {os.fspath(path)}: {reason}")
        self.disk_full = error.errno in NO_SPACE


@contextmanager
def written_aside(path: str | os.PathLike[str]) -> Generator[Path]:
    """A path to write to, which takes the place of `path` at the end; it is removed if that is not reached.

    What was written is on the disk before it takes the place: one that fills up late, as over a network, says so
    here, and a machine that loses its power keeps the one file or the other.

    Raises:
        NotWritten: the operating system refused, here or inside.
    """
    target = Path(path)
    # The process id keeps two processes apart; the ending is that of the file, because writers look at it.
    aside = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(aside, target)
    except OSError as error:
        raise NotWritten(path, error) from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, aside and then renamed.

    Raises:
        NotWritten: the operating system refused.
    """
    with written_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")
