"""Quiet for measurements: a speed is measured by one process of a machine at a time, and while nothing trains."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..policies.errors import HalfwiseError

_GATE, _MACHINE = "gate.lock", "machine.lock"


class Quiet(Protocol):
    """Asked before a training, and before a measurement of speed."""

    def training(self) -> AbstractContextManager[None]:
        """Open while something trains whose speed is of no interest to others."""
        ...

    def measuring(self) -> AbstractContextManager[None]:
        """Open while a speed is measured."""
        ...


class NoQuiet:
    """Nobody waits: where speed is a price, neighbours cannot bend it."""

    def training(self) -> AbstractContextManager[None]:
        """At once."""
        return nullcontext()

    def measuring(self) -> AbstractContextManager[None]:
        """At once."""
        return nullcontext()


@dataclass(frozen=True)
class KernelLocks:
    """Trainings go side by side, a measurement goes alone, among all processes that name the same `folder`.

    The locks are those of the kernel (flock) and go with the process, however it ends. Whoever wants to measure
    closes the gate first, so that new trainings cannot keep it waiting for ever.
    """

    folder: Path

    @contextmanager
    def training(self) -> Iterator[None]:
        """Waits while somebody measures, or is about to."""
        with self._through_the_gate(fcntl.LOCK_SH):
            yield

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Waits for the trainings that run, and for whoever measures."""
        with self._through_the_gate(fcntl.LOCK_EX):
            yield

    @contextmanager
    def _through_the_gate(self, kind: int) -> Iterator[None]:
        with (self.folder / _MACHINE).open("a") as machine:
            with (self.folder / _GATE).open("a") as gate:
                fcntl.flock(gate, kind)
                fcntl.flock(machine, kind)
            yield


def quiet_here() -> KernelLocks:
    """The locks that this user's processes on this machine share.

    Raises:
        HalfwiseError: the folder for the locks belongs to somebody else.
    """
    folder = Path(tempfile.gettempdir()) / f"halfwise-quiet-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    # Anybody may write in the temporary folder, and whoever owns the locks could keep everyone waiting.
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise HalfwiseError(
            f"{folder}, where processes that measure speed wait for each other, is not your own folder: "
            "remove it, or name another temporary folder with TMPDIR"
        )
    return KernelLocks(folder)
