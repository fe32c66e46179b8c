"""Stands between a search and its job: whatever becomes of either, nothing that the job started is left.

A workload's data loader may start processes that leave its session, or that outlive it. So a job is the child of a
watcher, which adopts all that loses its parent below it. It ends everything when the job has ended, and when its
lifeline is cut: on purpose, or because the search is gone, even by SIGKILL.
"""

import contextlib
import multiprocessing
import os
import resource
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import NoReturn

from .descendants import adopt_orphans, end_descendants, end_with, reap

STOPPING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
"""Signals that often reach a whole group of processes; they are for the search to hear, and for jobs."""


class Lifeline:
    """Held by a search for one watcher; `far` is the watcher's end."""

    def __init__(self) -> None:
        self.far, self._near = multiprocessing.Pipe(duplex=False)
        self._lock = threading.Lock()

    def cut(self) -> None:
        """Have the watcher end everything; more than once does nothing, from whichever thread."""
        with self._lock:
            self._near.close()


def watch_over(job: Callable[[], object], far: Connection) -> None:
    """Run the job in a process of its own, and end this one as that one ended, with nothing left below.

    In the job's process this returns, or raises, as the job does.
    """
    # A terminal's signals go to a session.
    os.setsid()
    adopt_orphans()
    deaths = _hear_deaths()
    watcher = os.getpid()
    process = os.fork()
    if process == 0:
        _become_job(watcher)
        job()
        return
    status = None
    while status is None and far not in wait([far, deaths]):
        os.read(deaths, 4096)
        status = reap().get(process)
    end_descendants()
    _leave_as(signal.SIGKILL if status is None else status)


def _hear_deaths() -> int:
    """A descriptor that can be read when a child has ended."""
    heard, told = os.pipe()
    for end in (heard, told):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    # Without a handler the signal would be ignored, and no descriptor told of it.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return heard


def _become_job(watcher: int) -> None:
    end_with(watcher)
    # A group of its own: a job that signals its whole group does not reach the watcher.
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    # Where the machine runs out of memory, the system shall end a trial rather than the search.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("500")


def _leave_as(status: int) -> NoReturn:
    """End by the same exit code or signal as another process did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        # Where cores are kept, the job's own is the one to look at.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
