"""`halfwise sync`: bring to MLflow what a study's folder holds and the store lacks."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..evaluators.json_file import read_json
from .held_file import held_alone
from .home import StudyFolder
from .so_far import so_far
from .study_file import StudyFile, read_records
from .tracking_file import TrackingFile, failure_of, run_in, write_tracking
from .tracking_mlflow import MlflowCopy

_BROKEN_OFF = "it was broken off from outside"


@dataclass(frozen=True)
class Brought:
    """What was missing in the store: trials by number, and whether what the study came to was."""

    uri: str
    trials: tuple[int, ...]
    conclusion: bool
    trials_in_all: int

    def __str__(self) -> str:
        """In a user's words."""
        all_there = f"MLflow at {self.uri} has all of the study: {_count(self.trials_in_all)}"
        if not self.trials and not self.conclusion:
            return f"Nothing was missing. {all_there}."
        parts = [f"{_count(len(self.trials))} ({_ranges(self.trials)})"] if self.trials else []
        parts += ["what the study came to"] if self.conclusion else []
        return f"Brought {' and '.join(parts)}. {all_there}."


def sync_study(folder: StudyFolder, copy: MlflowCopy) -> Brought:
    """Bring all that is missing: the study's run, its trials in order, how it ended; again changes nothing.

    Raises:
        TrackingError: the store does not answer, or refuses; what was brought until then stays.
        HalfwiseError: a search of the study is running, or its folder cannot be read.
    """
    refusal = (
        f"a search is running in {folder.path}: it brings what is missing by itself; when it has ended, "
        "`halfwise sync` brings the rest"
    )
    # As a search does: two who write at once would make runs twice.
    with held_alone(folder.lock_file, refusal):
        study, records = read_json(StudyFile, folder.study_file), read_records(folder)
        summary, failed = so_far(study.info, folder), failure_of(folder)
        has_ended = summary.cost is not None and summary.cost.ended is not None
        _calls(copy.open(study, folder, run_in(folder, copy.uri)))
        trials = tuple(record.number for record in records if _calls(copy.write(record)))
        conclusion = _calls(copy.conclude(summary, failed or (None if has_ended else _BROKEN_OFF))) > 0
        write_tracking(TrackingFile(uri=copy.uri, run=copy.run, failed=failed), folder)
        return Brought(copy.uri, trials, conclusion, len(records))


def _calls(steps: Iterator[None]) -> int:
    """Do them all; how many there were."""
    return sum(1 for _ in steps)


def _count(trials: int) -> str:
    return "1 trial" if trials == 1 else f"{trials} trials"


def _ranges(numbers: tuple[int, ...]) -> str:
    """Such as "0-3, 7"; the numbers ascend."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
