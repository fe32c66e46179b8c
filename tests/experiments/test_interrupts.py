"""Ctrl-C waits for the end of what must not be interrupted."""

import os
import signal
import threading

import pytest

from halfwise.experiments.interrupts import uninterrupted


@pytest.mark.parametrize("threads", [0, 2])
def test_an_interrupt_is_heard_at_the_end(threads):
    """A SIGINT inside is raised only after everything inside has been done, whatever threads there are."""
    done: list[str] = []
    over = threading.Event()
    for _ in range(threads):
        threading.Thread(target=over.wait, daemon=True).start()

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    over.set()
    assert done == ["all of it"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_other_threads_are_left_alone():
    """In a thread of its own a search runs without touching the process's signals."""
    handlers: list[object] = []

    def work() -> None:
        with uninterrupted():
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [before]
