"""Keeps Ctrl-C out of moments in which it would leave something half done."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A Ctrl-C that comes meanwhile is heard at the end.

    Optuna's journal drops its lock in a `finally`: an interrupt in there becomes another error, and the lock
    stays.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
