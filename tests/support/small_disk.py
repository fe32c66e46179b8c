"""A real disk of a few megabytes for a test, and what fills it up."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_REMOUNTS = 200


@contextmanager
def small_disk(place: Path, size_bytes: int) -> Iterator[Path]:
    """A tmpfs of this size, mounted in a new folder; where the system does not allow it the test is skipped.

    Under CI it fails: there it must run.
    """
    place.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size_bytes}", "halfwise-test", str(place))
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> Path:
    """Leave no free byte; the file that took them is given, to be removed again. More than once fills up again."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue
    return filler


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder cannot be written to any more, not even by root; what is open already can."""
    _mount("--bind", str(folder), str(folder))
    try:
        _remount_read_only(folder)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def _remount_read_only(folder: Path) -> None:
    """The mount is busy while anybody has a file in it open for writing, which takes milliseconds."""
    for _ in range(_REMOUNTS):
        if (
            subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=False, capture_output=True).returncode
            == 0
        ):
            return
        time.sleep(0.05)
    pytest.fail(f"{folder} stays busy: it cannot be made read-only")


def _mount(*arguments: str) -> None:
    mounted = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        refuse = pytest.fail if os.environ.get("CI") else pytest.skip
        refuse(f"nothing can be mounted here: {mounted.stderr.strip()}")
