"""Keeps Ctrl-C out of moments in which it would leave something half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A Ctrl-C that comes meanwhile is heard at the end; outside of the main thread there is none to keep out.

    Optuna's journal drops its lock in a `finally`: an interrupt in there becomes another error, and the lock
    stays. Blocking the signal would not do: with a second thread in the process it is delivered there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
