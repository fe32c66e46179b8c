"""Files that are only data: read up to a limit, from plain files only."""

import errno
import os
import stat
from pathlib import Path

from .errors import InputError

MAX_TEXT_BYTES = 2**20


def read_bytes(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """What a file holds.

    A pipe or a device may never end, and a folder holds no data: only plain files are read.

    Raises:
        OSError: there is no such file, it is no plain file or larger than `most_bytes`; `strerror` says which.
    """
    try:
        # Without waiting: to open a pipe that nobody writes to would take for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:
        raise OSError(errno.EINVAL, f"its name is none that a file can have: {error}") from error
    with open(descriptor, "rb") as file:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "it is no plain file, but a pipe, a socket or a device")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes} bytes, the most that is read")
    return content


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file of up to 1 MiB that people write, without the byte order mark of some editors.

    Raises:
        InputError: the file cannot be read, or is not UTF-8 text.
    """
    try:
        return read_bytes(path, MAX_TEXT_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{Path(path)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{Path(path)}: is not UTF-8 text (byte {error.start})") from error
