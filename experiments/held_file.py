"""Holds a file for one process at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..policies.errors import HalfwiseError


@contextmanager
def held_alone(file: Path, refusal: str) -> Iterator[None]:
    """Hold a file, which is made if it is not there; the lock is the kernel's and goes with the process.

    Raises:
        HalfwiseError: another process holds it; `refusal` is what to say then.
    """
    with file.open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise HalfwiseError(refusal) from error
        yield
