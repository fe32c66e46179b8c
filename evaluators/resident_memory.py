"""How much memory a job holds, with all that it started."""

import contextlib
import math
import time
from collections.abc import Callable

import psutil

_LISTED_EVERY_S = 0.5


class ResidentMemory:
    """Resident memory of everything below a process, that process left out.

    Pages that several of them share are counted once: forked data loaders hold most of their memory in common.
    Telling how much that is takes long, so it is looked up only where the plain sum would be too much. New
    processes are looked for every half second.
    """

    def __init__(self, top: int) -> None:
        """Looks below the process with this id."""
        self._top = top
        self._below: list[psutil.Process] = []
        self._listed_s = -math.inf
        self._shared_bytes = 0

    def beyond(self, limit_bytes: int) -> int | None:
        """How many bytes are held, if they are more than the limit."""
        self._list()
        plain = self._sum(lambda process: process.memory_info().rss)
        if plain - self._shared_bytes <= limit_bytes:
            return None
        once = self._sum(lambda process: process.memory_full_info().pss)
        self._shared_bytes = plain - once
        return once if once > limit_bytes else None

    def _list(self) -> None:
        now_s = time.monotonic()
        if self._below and now_s - self._listed_s < _LISTED_EVERY_S:
            return
        self._listed_s = now_s
        self._below = []
        with contextlib.suppress(psutil.Error):
            self._below = psutil.Process(self._top).children(recursive=True)

    def _sum(self, size_bytes: Callable[[psutil.Process], int]) -> int:
        total = 0
        for process in self._below:
            with contextlib.suppress(psutil.Error):
                total += size_bytes(process)
        return total
