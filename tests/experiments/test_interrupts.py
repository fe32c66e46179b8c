"""Ctrl-C waits for the end of what must not be interrupted."""

import os
import signal

import pytest

from halfwise.experiments.interrupts import uninterrupted


def test_an_interrupt_is_heard_at_the_end():
    """A SIGINT inside is raised only after everything inside has been done, and a later one at once."""
    done: list[str] = []

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
