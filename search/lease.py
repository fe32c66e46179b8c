"""Who runs a trial, and whether they still do: a lease that its owner renews, and others watch."""

import os
import platform
import time
import uuid
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from ..policies.errors import HalfwiseError

BEAT_S = 10
"""How often an owner renews its leases."""
EXPIRY_S = 45
"""How long a lease lasts that nobody renews, in the time that an observer has watched it."""

_PROC = Path("/proc")
# States in which a process is over, though it still has an entry.
_OVER = ("Z", "X", "x")


class LeaseLost(HalfwiseError):
    """A trial was given to another worker, its owner being taken for gone; what it came to counts for nothing."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that runs trials: which machine since when it is up, which process since when, which worker.

    `started` is in clock ticks since the machine's start: it tells a process from a later one of its number.
    """

    host: str
    boot: str
    pid_namespace: str
    pid: int
    started: int
    worker: str

    @classmethod
    def here(cls, worker: str | None = None) -> Self:
        """This process; `worker` names it among others, and is made up if left out."""
        return cls(
            host=platform.node(),
            boot=_boot(),
            pid_namespace=_pid_namespace(),
            pid=os.getpid(),
            started=_started(os.getpid()) or 0,
            worker=worker or uuid.uuid4().hex[:8],
        )

    @staticmethod
    def read(stored: object) -> "Owner | None":
        """The owner that a storage holds; None if what it holds is none."""
        try:
            return _OWNERS.validate_python(stored)
        except ValidationError:
            return None

    def stored(self) -> dict[str, Any]:
        """Plain JSON, which `read` reads back."""
        return asdict(self)

    def alive(self) -> bool | None:
        """Whether the process still runs; None where that cannot be seen from here.

        It can on the same machine, since the same start of it, where process numbers mean the same.
        """
        if not self.boot or (self.boot, self.pid_namespace) != (_boot(), _pid_namespace()):
            return None
        return _started(self.pid) == self.started


_OWNERS = TypeAdapter(Owner)


class Watch:
    """Remembers how long leases have not been renewed, by this process's own clock: no two clocks are compared.

    Between two looks at a lease at most `BEAT_S` counts: while the storage was away nobody could renew one.
    """

    def __init__(self, expiry_s: float = EXPIRY_S, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is watched yet."""
        self._expiry_s = expiry_s
        self._clock = clock
        self._seen: dict[Hashable, tuple[int, float, float]] = {}

    def gone(self, lease: Hashable, owner: Owner | None, pulse: int) -> bool:
        """Whether an owner is gone: known to be dead, or on another machine and silent for too long."""
        alive = None if owner is None else owner.alive()
        return self.silent(lease, pulse) if alive is None else not alive

    def silent(self, lease: Hashable, pulse: int) -> bool:
        """Whether the lease's `pulse` has been the same for too long."""
        now = self._clock()
        last_pulse, last_look, quiet_s = self._seen.get(lease, (pulse, now, 0.0))
        quiet_s = quiet_s + min(now - last_look, BEAT_S) if pulse == last_pulse else 0.0
        self._seen[lease] = (pulse, now, quiet_s)
        return quiet_s > self._expiry_s


def _boot() -> str:
    return _text(_PROC / "sys/kernel/random/boot_id")


def _pid_namespace() -> str:
    try:
        return str((_PROC / "self/ns/pid").readlink())
    except OSError:
        return ""


def _started(pid: int) -> int | None:
    """When a process began, in clock ticks since the machine's start; None if it is over."""
    # The second field is the program's name in parentheses, which may hold anything.
    fields = _text(_PROC / str(pid) / "stat").rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in _OVER else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
