"""The end of a search: its choice is held against float32 once more, until one holds."""

from dataclasses import dataclass

from ..evaluators.evaluator import Evaluator
from ..policies import load_policy
from .conclusion import conclude
from .confirmation import confirm, confirmation_of
from .float32_repeats import Float32Repeats
from .home import StudyFolder
from .progress import Display
from .records import StudyInfo, StudySummary, TrialRecord
from .side_by_side import SideBySide
from .study_file import BASELINE, read_records


@dataclass(frozen=True)
class Confirming:
    """The fastest and best of many trials is above all the luckiest: what is chosen is tried again.

    Its quality with other seeds, where float32's repeats are known; its speed side by side with float32, where
    speed is measured. Float32 itself needs neither.
    """

    info: StudyInfo
    folder: StudyFolder
    evaluator: Evaluator
    repeats: Float32Repeats | None
    timing: SideBySide | None

    def conclude(self, display: Display) -> StudySummary:
        """The conclusion with a choice that holds; a choice that does not is taken back."""
        while True:
            records = read_records(self.folder)
            summary = conclude(self.info, self.folder, records)
            record = next((r for r in records if summary.best and r.number == summary.best.number), None)
            if record is None or record.name == BASELINE:
                return summary
            # Both are said even if the first fails: a person reads why a policy was taken back.
            if not (self._try_seeds(record, display) | self._time(record, summary, display)):
                return summary

    def _try_seeds(self, record: TrialRecord, display: Display) -> bool:
        """Whether something new was learnt of its quality."""
        if self.repeats is None or confirmation_of(record) is not None:
            return False
        display.note(f"training {record.title} again with other seeds")
        found = confirm(record, self.evaluator, self.repeats, self.info.tolerance)
        display.note(f"{record.title} {found}")
        return True

    def _time(self, record: TrialRecord, summary: StudySummary, display: Display) -> bool:
        """Whether something new was learnt of its speed."""
        if self.timing is None or summary.confirmed is not None or summary.best is None:
            return False
        return self.timing.confirm(summary.best, load_policy(record.folder / "policy.yaml"), self.folder, display)
