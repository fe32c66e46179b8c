"""The place where people look at a study while it runs and afterwards, and what it can be.

`tracking_mlflow` holds the one that is used by default; this module does without MLflow.
"""

from abc import ABC, abstractmethod

from ..policies.errors import HalfwiseError
from .home import StudyFolder
from .records import StudySummary, TrialRecord
from .study_file import StudyFile
from .tracking_file import forget_failure


class TrackingError(HalfwiseError):
    """The tracking store did not take what it was given; the message is one line, the study is unharmed."""


class Tracker(ABC):
    """Takes down a study and its trials: `begin`, `log_trial` for each trial, then `finish` or `fail`.

    No method raises for a store that does not answer: the study's folder has everything.
    """

    @abstractmethod
    def begin(self, study: StudyFile) -> None:
        """The search starts, or goes on; `study` is in its folder by now."""

    @abstractmethod
    def log_trial(self, record: TrialRecord) -> None:
        """A trial has finished, or was trained on; what was taken down of it before is left as it is."""

    @abstractmethod
    def finish(self, summary: StudySummary) -> None:
        """The search has ended with this."""

    @abstractmethod
    def fail(self, message: str) -> None:
        """The search was ended by an error; the message says which."""


class NoTracker(Tracker):
    """Takes nothing down: for searches without MLflow."""

    def begin(self, study: StudyFile) -> None:
        """Only an earlier error is forgotten: `halfwise sync` would say that it ended this search."""
        forget_failure(StudyFolder(study.info.folder))

    def log_trial(self, record: TrialRecord) -> None:
        """Nothing."""

    def finish(self, summary: StudySummary) -> None:
        """Nothing."""

    def fail(self, message: str) -> None:
        """Nothing."""
