"""What a person sees while a search runs: a bar on a terminal, a line a trial elsewhere."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..policies.canonical import printable
from ..search.front import Point
from .records import StudySummary, TrialRecord
from .study_file import BASELINE


class Display(ABC):
    """Told of everything worth saying; `begin` before the first trial, `end` after the last."""

    @abstractmethod
    def begin(self, done: int, planned: int) -> None:
        """The trials start; `done` of them were finished by an earlier run."""

    @abstractmethod
    def note(self, text: str) -> None:
        """One line that stays."""

    @abstractmethod
    def trial(self, record: TrialRecord, now: StudySummary) -> None:
        """A trial has finished; `now` is what the study comes to with it."""

    @abstractmethod
    def end(self) -> None:
        """No more trials."""


class Lines(Display):
    """A line for everything: logs, pipes and dumb terminals."""

    def __init__(self, write: Callable[[str], None]) -> None:
        """`write` gets each line."""
        self._write = write
        self._done = self._planned = 0
        self._started = 0.0
        self._ran = 0

    def begin(self, done: int, planned: int) -> None:
        """Starts the clock."""
        self._done, self._planned, self._started = done, planned, time.monotonic()

    def note(self, text: str) -> None:
        """The line as it is."""
        self._write(text)

    def trial(self, record: TrialRecord, now: StudySummary) -> None:
        """Number, policy, figures or cause, the best so far, the size of the front, the time left."""
        self._done += 1
        self._ran += 1
        left_s = (time.monotonic() - self._started) / self._ran * (self._planned - self._done)
        said = f"{describe(record, point_in(now, record))}; {standing(now)}; about {left_words(left_s)} left"
        self._write(f"[{self._done}/{self._planned}] {said}")

    def end(self) -> None:
        """Nothing."""


class Bar(Display):
    """A progress bar with the time left and the best so far; causes of failure stay above it."""

    def __init__(self, console: Console) -> None:
        """Draws on `console`."""
        self._console = console
        columns = (
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task("", total=None)

    def begin(self, done: int, planned: int) -> None:
        """Shows the bar."""
        self._progress.update(self._task, completed=done, total=planned)
        self._progress.start()

    def note(self, text: str) -> None:
        """A line above the bar."""
        self._console.print(printable(text), markup=False, highlight=False)

    def trial(self, record: TrialRecord, now: StudySummary) -> None:
        """Moves the bar; a trial that did not train leaves its cause."""
        point = point_in(now, record)
        if not point.feasible:
            self.note(describe(record, point))
        last = f"{point.quality:.5g}" if point.feasible else "does not count"
        description = printable(f"{standing(now)}; last {record.title}: {last}")
        self._progress.update(self._task, advance=1, description=description)

    def end(self) -> None:
        """Takes the bar away."""
        self._progress.stop()


def point_in(now: StudySummary, record: TrialRecord) -> Point:
    """The point of a trial that a summary holds."""
    return next(point for point in now.points if point.number == record.number)


def standing(now: StudySummary) -> str:
    """The best so far and how many policies are on the front."""
    chosen = f"best so far {now.best.label}" if now.best else "no choice yet"
    return f"{chosen}; {len(now.front)} on the front"


def left_words(left_s: float) -> str:
    """A time to wait, as coarse as it is known: seconds below two minutes, then minutes, then hours too."""
    if left_s < 120:
        return f"{math.ceil(left_s)} s"
    minutes = math.ceil(left_s / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def describe(record: TrialRecord, point: Point) -> str:
    """One trial in one line: its figures, or why it has none."""
    outcome = record.outcome
    if point.feasible:
        compared = f", {outcome.against_float32.judged}" if outcome.against_float32 else ""
        doubt = ", inconclusive" if point.against_float32 and not point.against_float32.conclusive else ""
        lost = f" (loses {point.quality_lost.short})" if point.quality_lost and record.name != BASELINE else ""
        figures = f"{outcome.metric} {point.quality:.5g}{lost}, {point.speed:,.0f} samples/s"
        return f"{record.title}: {figures}{compared}{doubt}"
    words = "does not count" if outcome.status == "infeasible" else "did not run to its end"
    place = outcome.first_non_finite
    reasons = [outcome.cause or "", f"first at {place}" if place else "", outcome.message or ""]
    return f"{record.title}: {words}: {'; '.join(reason for reason in reasons if reason)}"
