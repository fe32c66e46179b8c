"""Signals that end a command wait for the end of what must not be torn."""

import os
import signal
import threading

import pytest

from halfwise.experiments import interrupts
from halfwise.experiments.interrupts import Stopped, stopped_by_signals, uninterrupted

CODES = [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM"), (signal.SIGHUP, 129, "SIGHUP")]


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize(("number", "code", "words"), CODES)
def test_a_signal_is_heard_at_the_end(number, code, words, threads):
    """One that comes inside is raised only after everything inside has been done, whatever threads there are."""
    done: list[str] = []
    over = threading.Event()
    for _ in range(threads):
        threading.Thread(target=over.wait, daemon=True).start()

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            done.append("all of it")

    with stopped_by_signals(), pytest.raises(Stopped) as stopped:
        work()
    over.set()
    assert done == ["all of it"]
    assert stopped.value.exit_code == code
    assert str(stopped.value).startswith(f"stopped by {words}")


def test_a_second_signal_does_not_tear_what_follows_the_first():
    """What is done because of the first signal is done to its end, kept from signals or not."""
    done: list[str] = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except Stopped:
            signal.raise_signal(signal.SIGINT)
            with uninterrupted():
                signal.raise_signal(signal.SIGTERM)
            done.append("front and best policy")
            raise

    with stopped_by_signals(), pytest.raises(Stopped, match="stopped by SIGTERM"):
        work()
    assert done == ["front and best policy"]


def test_a_later_signal_is_heard_again(monkeypatch):
    """Where the first one led to no end within its time, the next one is heard."""
    monkeypatch.setattr(interrupts, "_OBEYING_S", 0.0)
    with stopped_by_signals():
        for number in (signal.SIGTERM, signal.SIGINT):
            with pytest.raises(Stopped):
                signal.raise_signal(number)


def test_without_a_command_python_decides():
    """In somebody's own program, Ctrl-C stays Python's KeyboardInterrupt, at the end."""
    done: list[str] = []

    def work() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt) as stopped:
        work()
    assert not isinstance(stopped.value, Stopped)
    assert done == ["all of it"]


def test_what_is_ignored_stays_ignored():
    """Under nohup a search outlives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals(), uninterrupted():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_given_back():
    """After a command the process treats its signals as before."""
    before = [signal.getsignal(number) for number, _, _ in CODES]
    with stopped_by_signals(), uninterrupted():
        pass
    assert [signal.getsignal(number) for number, _, _ in CODES] == before


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
