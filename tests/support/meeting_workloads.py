"""A workload whose trials wait for each other, so that a test knows what runs at the same time."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiny_workloads import Tiny

PLACE, ENOUGH = "HALFWISE_TEST_MEETING", "enough"


class Meeting(Tiny):
    """At its end a trial leaves a file in a folder, and waits until two have, or the test says it is enough."""

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """As Tiny, after the wait."""
        place = Path(os.environ[PLACE])
        (place / str(os.getpid())).touch()
        while len(arrived(place)) < 2 and not (place / ENOUGH).exists():
            time.sleep(0.02)
        return super().evaluate(predict)


class Gate(Meeting):
    """Waits for the test alone."""

    def evaluate(self, predict: Callable[..., Any]) -> float:
        """As Tiny, after the wait."""
        place = Path(os.environ[PLACE])
        (place / str(os.getpid())).touch()
        while not (place / ENOUGH).exists():
            time.sleep(0.02)
        return Tiny.evaluate(self, predict)


def arrived(place: Path) -> list[str]:
    """Who has been there."""
    return [file.name for file in place.iterdir() if file.name != ENOUGH]


make_meeting = Meeting
make_gate = Gate
