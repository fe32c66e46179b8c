"""The place where people look at a study while it runs and afterwards, and what it can be.

`tracking_mlflow` holds the one that is used by default; this module does without MLflow.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

from ..policies.errors import HalfwiseError
from .records import StudyInfo, StudySummary, TrialRecord


class TrackingError(HalfwiseError):
    """The tracking store did not take what it was given; the message is one line, the study is unharmed."""


class Tracker(ABC):
    """Takes down a study and its trials: `begin`, `log_trial` for each trial, then `finish` or `fail`.

    Every method raises TrackingError where the store does not answer, after a bounded wait, or refuses.
    """

    @abstractmethod
    def begin(self, info: StudyInfo, resume: str | None = None) -> str | None:
        """Open the study's run and give its id, which goes on with `resume` in a later process."""

    @abstractmethod
    def log_trial(self, record: TrialRecord) -> None:
        """Take down a finished trial; one that was taken down before is left as it is."""

    @abstractmethod
    def log_longer(self, record: TrialRecord) -> None:
        """Take down what a trial came to when it was trained on."""

    @abstractmethod
    def finish(self, summary: StudySummary) -> None:
        """Take down what the study came to and close its run."""

    @abstractmethod
    def fail(self, message: str) -> None:
        """Close the study's run as failed, with the reason."""


class NoTracker(Tracker):
    """Takes nothing down: for searches without MLflow."""

    def begin(self, info: StudyInfo, resume: str | None = None) -> str | None:
        """No run, so no id."""
        return None

    def log_trial(self, record: TrialRecord) -> None:
        """Nothing."""

    def log_longer(self, record: TrialRecord) -> None:
        """Nothing."""

    def finish(self, summary: StudySummary) -> None:
        """Nothing."""

    def fail(self, message: str) -> None:
        """Nothing."""


class ForgivingTracker(Tracker):
    """Passes everything on to another tracker, and turns its errors into warnings: the search goes on.

    A study whose run could not be opened is not taken down at all; after that, each trial is tried anew.
    """

    def __init__(self, tracker: Tracker, warn: Callable[[str], None]) -> None:
        """Wrap `tracker`; `warn` is given each error's one line."""
        self._tracker = tracker
        self._warn = warn

    def begin(self, info: StudyInfo, resume: str | None = None) -> str | None:
        """As the wrapped tracker, or None with a warning."""
        try:
            return self._tracker.begin(info, resume)
        except TrackingError as error:
            self._tracker = NoTracker()
            self._warn(f"{error} The search goes on without it.")
            return resume

    def log_trial(self, record: TrialRecord) -> None:
        """As the wrapped tracker, or a warning."""
        self._forgive(lambda: self._tracker.log_trial(record))

    def log_longer(self, record: TrialRecord) -> None:
        """As the wrapped tracker, or a warning."""
        self._forgive(lambda: self._tracker.log_longer(record))

    def finish(self, summary: StudySummary) -> None:
        """As the wrapped tracker, or a warning."""
        self._forgive(lambda: self._tracker.finish(summary))

    def fail(self, message: str) -> None:
        """As the wrapped tracker, or a warning."""
        self._forgive(lambda: self._tracker.fail(message))

    def _forgive(self, call: Callable[[], None]) -> None:
        try:
            call()
        except TrackingError as error:
            self._warn(str(error))
