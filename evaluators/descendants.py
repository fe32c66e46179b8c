"""What becomes of the processes below this one: orphans stay below it, and none is left at its end."""

import contextlib
import ctypes
import os
import signal
import time

import psutil

# From <linux/prctl.h>.
_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_PAUSE_S, _LONGEST_PAUSE_S = 0.005, 1.0


def adopt_orphans() -> None:
    """From now on a descendant whose parent ends becomes a child of this process, wherever its session is.

    Raises:
        OSError: the system cannot do that (Linux before 3.4).
    """
    _prctl(_SET_CHILD_SUBREAPER, 1)


def end_with(parent: int) -> None:
    """Let the system kill this process when its parent ends; `parent` is whose id it was when it was forked."""
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def end_descendants() -> None:
    """Kill everything below this process until the system knows of no child any more.

    To be called in a process that adopts orphans: what a killed process leaves behind moves up to it, so that it
    can't get away. Exit codes are lost. Waits for what hangs in the system, such as on a network drive.
    """
    pause_s = _PAUSE_S
    reap()
    while _has_children():
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        reap()


def reap() -> dict[int, int]:
    """The wait status of each child that has ended, by its id; they are gone then."""
    ended: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]
    return ended


def _has_children() -> bool:
    try:
        # WNOWAIT: what has ended is left for `reap`.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _prctl(option: int, value: int) -> None:
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
