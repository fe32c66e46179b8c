"""What holds for every test of search/."""

import os
from pathlib import Path

import pytest

from .places import Place, database_at, journal_in


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test survives a power cut, and the journal's fsync calls would cost most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(params=["journal", pytest.param("postgresql", marks=pytest.mark.full)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Room for a study in each storage that several workers share."""
    return room_in(request, tmp_path)


@pytest.fixture(params=["journal", "postgresql"])
def quick_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The same, for the few tests that ask a server in the quick tier too."""
    return room_in(request, tmp_path)


def room_in(request: pytest.FixtureRequest, folder: Path) -> Place:
    """Room in the kind of storage that a fixture's parameter names."""
    if request.param == "journal":
        return journal_in(folder)
    return database_at(request.getfixturevalue("postgres").url)
