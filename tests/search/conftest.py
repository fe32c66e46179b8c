"""What holds for every test of search/."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test survives a power cut, and the journal's fsync calls would cost most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
