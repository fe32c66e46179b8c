"""Signals that end a command: heard as an exception, and never in the middle of what must be done whole."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

GOES_ON = "everything that finished is kept: start the same command again to go on"
"""What is noted about an error that ended a search."""

_OBEYING_S = 10.0
_WORDS = {
    signal.SIGINT: "Ctrl-C",
    signal.SIGTERM: "SIGTERM",
    signal.SIGHUP: "SIGHUP: its terminal was closed",
}


class Stopped(KeyboardInterrupt):
    """Somebody wants the command to end; the message says by which signal, `exit_code` is what shells expect."""

    def __init__(self, number: int) -> None:
        """Made of the signal's number."""
        super().__init__(f"stopped by {_WORDS[signal.Signals(number)]}")
        self.exit_code = 128 + number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Inside, Ctrl-C, SIGTERM and SIGHUP raise Stopped; one that is ignored, as under nohup, stays so.

    For ten seconds after one, further ones change nothing: what it has set going must not be torn.
    """
    heard_s = -math.inf

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal heard_s
        if time.monotonic() - heard_s > _OBEYING_S:
            heard_s = time.monotonic()
            raise Stopped(number)

    with _handled(stop):
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A signal that comes meanwhile is heard at the end; outside of the main thread there is none to keep out.

    Optuna's journal drops its lock in a `finally`: an interrupt in there becomes another error, and the lock
    stays. Blocking the signals would not do: with a second thread in the process they are delivered there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    with _handled(lambda number, _frame: came.append(number)):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in _WORDS}
    heard = {number: old for number, old in before.items() if old not in (signal.SIG_IGN, None)}
    try:
        for number in heard:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in heard.items():
            signal.signal(number, old)
