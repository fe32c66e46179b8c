"""Copies a study to MLflow beside the search: on a thread of its own, again and again where nobody answers.

The study's folder is the source of truth. What the store lacks when the search ends is brought by `halfwise sync`.
"""

import shlex
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..policies.errors import HalfwiseError
from ..policies.whole_file import NotWritten
from .cost import cost_of
from .home import StudyFolder
from .records import StudySummary, TrialRecord
from .so_far import so_far
from .study_file import StudyFile, read_records
from .tracking import Tracker
from .tracking_file import TrackingFile, run_in, write_tracking
from .tracking_mlflow import MlflowCopy

# A search waits no longer than this, over its whole run, for a store that does not answer.
PATIENCE_S = 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_POLL_S = 0.05


@dataclass(frozen=True)
class _End:
    """How the search ended: with a summary, or with an error."""

    summary: StudySummary | None = None
    failed: str | None = None


class BackgroundTracker(Tracker):
    """Hands a study on to its copy. The search waits at its end only: for as long as the store goes on answering.

    `lost_s` is how long it has waited in vain. What a file of this machine takes is no waiting in vain, unless it
    ends in an error. Errors of the store become lines for people: the first of a row, and what is missing at last.
    """

    def __init__(
        self, copy: MlflowCopy, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`say` is given each line, from any thread; `clock` counts seconds."""
        self._copy = copy
        self._say = say
        self._clock = clock
        self._changed = threading.Condition()
        # What the thread has to do, and how it gets on: read and written under the condition.
        self._pending: dict[int, TrialRecord] = {}
        self._end: _End | None = None
        self._is_done = False
        self._hurry = False
        self._answers = 0
        self._pause_s = _FIRST_PAUSE_S
        self._error: str | None = None
        self.lost_s = 0.0

    def begin(self, study: StudyFile) -> None:
        """Start the thread; trials of an earlier start that the store lacks come first."""
        self._study, self._folder = study, StudyFolder(study.info.folder)
        self._run = run_in(self._folder, self._copy.uri)
        write_tracking(TrackingFile(uri=self._copy.uri, run=self._run), self._folder)
        self._pending = {record.number: record for record in read_records(self._folder)}
        self._thread = threading.Thread(target=self._work, name="halfwise-mlflow", daemon=True)
        self._thread.start()

    def log_trial(self, record: TrialRecord) -> None:
        """Hand it on; no waiting."""
        with self._changed:
            self._pending[record.number] = record
            self._changed.notify_all()

    def finish(self, summary: StudySummary) -> None:
        """Hand it on, and wait as long as the store answers."""
        # The cost as it stands in the folder: `halfwise sync` finds nothing to change then.
        self._close(_End(summary=replace(summary, cost=cost_of(self._folder))))

    def fail(self, message: str) -> None:
        """Hand it on, and wait as long as the store answers."""
        self._close(_End(failed=message))

    def _close(self, end: _End) -> None:
        with self._changed:
            self._end, self._hurry = end, True
            self._changed.notify_all()
            self._wait()
            missing, error = None if self._is_done else len(self._pending), self._error
            # Whoever gives up leaves the store to `halfwise sync`.
            self._is_done, self._hurry = True, True
            self._changed.notify_all()
        try:
            run = self._copy.run or self._run
            write_tracking(TrackingFile(uri=self._copy.uri, run=run, failed=end.failed), self._folder)
        except NotWritten as full:
            self._say(str(full))
        if missing is not None:
            self._say(f"{error or f'MLflow at {self._copy.uri} did not answer'}: {self._missing_words(missing)}")

    def _wait(self) -> None:
        """Until all is there, or too much time is lost: without an answer, or from an error to a success."""
        # So that the last poll takes it no further.
        limit_s = PATIENCE_S - _POLL_S
        answers, since_s = self._answers, self._clock()
        while not self._is_done and self._thread.is_alive() and self.lost_s < limit_s:
            self._changed.wait(_POLL_S)
            now_s = self._clock()
            is_at_work = self._copy.is_local or answers != self._answers
            is_silent = not is_at_work and self.lost_s + now_s - since_s >= limit_s
            if self._error is not None or is_silent:
                self.lost_s += now_s - since_s
            if self._error is not None or is_silent or is_at_work:
                answers, since_s = self._answers, now_s

    def _missing_words(self, trials: int) -> str:
        what = {0: "what the study came to is", 1: "1 trial is"}.get(trials, f"{trials} trials are")
        command = shlex.join(["halfwise", "sync", self._folder.name, "--home", str(self._folder.path.parent)])
        return f"{what} not there yet; `{command}` brings what is missing"

    def _work(self) -> None:
        """The thread: bring what is missing, and after an error look again at what is there."""
        while not self._is_done:
            try:
                for _ in self._bring():
                    self._note_answer()
                    if self._is_done:
                        return
            except HalfwiseError as error:
                self._copy.close()
                self._pause(str(error))

    def _bring(self) -> Iterator[None]:
        """All that is to be done by now; then wait for more."""
        if self._copy.run is None:
            yield from self._copy.open(self._study, self._folder, self._run)
            self._run = self._copy.run
            if self._end is None:
                yield from self._copy.running()
        while (record := self._next()) is not None:
            yield from self._copy.write(record)
            self._note_written(record)
        # Whatever the folder holds, others may have put it there.
        for record in read_records(self._folder):
            yield from self._copy.write(record)
        end = self._end or _End()
        summary = end.summary or so_far(self._study.info, self._folder)
        yield from self._copy.conclude(summary, end.failed)
        self._note_done()

    def _next(self) -> TrialRecord | None:
        """The first trial that is to be written, as soon as there is one; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._end is not None)
            return self._pending[min(self._pending)] if self._pending else None

    def _note_answer(self) -> None:
        with self._changed:
            self._answers += 1
            self._changed.notify_all()

    def _note_written(self, record: TrialRecord) -> None:
        with self._changed:
            # It may have been trained on meanwhile.
            if self._pending.get(record.number) is record:
                del self._pending[record.number]
        self._note_success()

    def _note_done(self) -> None:
        with self._changed:
            self._is_done = True
            self._changed.notify_all()
        self._note_success()

    def _note_success(self) -> None:
        with self._changed:
            recovered, self._error = self._error is not None, None
            self._pause_s = _FIRST_PAUSE_S
        if recovered:
            self._say(f"MLflow at {self._copy.uri} answers again.")

    def _pause(self, error: str) -> None:
        """Wait before the next attempt, longer each time; while the search runs the first error is said."""
        with self._changed:
            is_news = self._error is None and self._end is None
            self._error = error
            self._changed.notify_all()
        if is_news:
            self._say(f"{error}; the search goes on, and tries again")
        with self._changed:
            self._changed.wait_for(lambda: self._hurry, self._pause_s)
            self._pause_s = _FIRST_PAUSE_S if self._hurry else min(2 * self._pause_s, _LONGEST_PAUSE_S)
            self._hurry = False
