"""The workers that a search starts on its own machine, each a process of its own that makes trials."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..policies.errors import HalfwiseError
from .cores import on_cores
from .held_file import held_alone
from .interrupts import uninterrupted
from .progress import Display

# A worker that breaks is started again, but not for ever: this often in all.
MOST_RESTARTS = 3
# So long a worker has to give up its trial, and to leave.
_LEAVING_S = 20.0
_POLL_S = 0.1
_LOG, _LOCK = "output.log", "worker.lock"


@dataclass(frozen=True)
class Hand:
    """One worker to be: its name, its command line and environment, its cores, and the folder for its output."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    cores: frozenset[int]
    folder: Path


@dataclass
class Crew:
    """Starts the workers, starts those again that break, and ends them with the search; none for no hands."""

    hands: Sequence[Hand] = ()
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])
    _restarts: int = 0

    @contextmanager
    def at_work(self, display: Display) -> Iterator[None]:
        """The workers run while this is open.

        At its end they have some seconds to leave by themselves, since the study has ended; where it ends with an
        error they are told to give up their trials.
        """
        try:
            for hand in self.hands:
                self._start(hand, display)
            yield
        except BaseException:
            self._tell_to_leave()
            raise
        finally:
            with uninterrupted():
                self._wait_until_gone()

    def watch(self, display: Display) -> None:
        """Say which worker has broken, and start it again."""
        for hand in self.hands:
            process = self._running.get(hand.name)
            if process is None or process.poll() in (None, 0):
                continue
            del self._running[hand.name]
            words = f"{hand.name} ended with exit code {process.returncode}: {_last_line(hand.folder / _LOG)}"
            if self._restarts == MOST_RESTARTS:
                display.note(f"{words}; it is not started again, after {MOST_RESTARTS} new starts")
                continue
            self._restarts += 1
            display.note(f"{words}; it is started again")
            self._start(hand, display)

    def _start(self, hand: Hand, display: Display) -> None:
        hand.folder.mkdir(parents=True, exist_ok=True)
        if is_at_work(hand.folder):
            display.note(f"{hand.name} of an earlier start is still at work, and goes on")
            return
        with (hand.folder / _LOG).open("ab") as log, on_cores(hand.cores):
            # In a session of its own: Ctrl-C on the terminal is for the search, which then tells its workers.
            self._running[hand.name] = subprocess.Popen(
                hand.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **hand.environment},
                start_new_session=True,
            )

    def _tell_to_leave(self) -> None:
        for process in self._running.values():
            with suppress(ProcessLookupError):
                process.terminate()

    def _wait_until_gone(self) -> None:
        deadline = time.monotonic() + _LEAVING_S
        while any(process.poll() is None for process in self._running.values()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        for process in self._running.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self._running.clear()


@contextmanager
def holding_place(folder: Path) -> Iterator[None]:
    """Hold a worker's folder for this process; the lock goes with it, however it ends.

    Raises:
        HalfwiseError: another worker of that name is at work.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with held_alone(folder / _LOCK, f"another worker is at work in {folder}"):
        yield


def is_at_work(folder: Path) -> bool:
    """Whether some process holds a worker's folder."""
    try:
        with holding_place(folder):
            return False
    except HalfwiseError:
        return True


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "it said nothing"
