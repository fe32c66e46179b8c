"""The trials of one search: ask, train, write down, tell, show; until the budget or the proposals end."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Outcome
from ..policies import save_policy
from ..search.study import Proposal, Search
from .conclusion import conclude
from .home import StudyFolder
from .interrupts import uninterrupted
from .lessons import Lessons
from .progress import Display
from .records import StudyInfo, TrialRecord
from .side_by_side import SideBySide
from .study_file import point_of, read_records, trained_before
from .tracking import Tracker


@dataclass(frozen=True)
class Trials:
    """What all trials of one search share; `timing` is None where speed is priced."""

    info: StudyInfo
    folder: StudyFolder
    search: Search
    evaluator: Evaluator
    lessons: Lessons
    timing: SideBySide | None

    def run(self, planned: int, tracker: Tracker, display: Display) -> None:
        """Try policies until `planned` have been tried, those of an earlier start included, or nothing is left."""
        done = sum(not told.interrupted for told in self.search.finished())
        records = read_records(self.folder)
        display.begin(done, planned)
        try:
            for _ in range(done, planned):
                record = self._try_one(records)
                if record is None:
                    display.note(f"{self.info.sampler} has nothing left to try that could be faster than float32")
                    break
                records.append(record)
                with uninterrupted():
                    tracker.log_trial(record)
                    summary = conclude(self.info, self.folder, records)
                display.trial(record, point_of(record, self.info), summary.best)
        finally:
            display.end()

    def _try_one(self, records: Sequence[TrialRecord]) -> TrialRecord | None:
        """Ask, train, measure side by side if speed is measured, write down, tell; None: nothing is left."""
        with uninterrupted():
            proposal = self.search.ask()
            if proposal is None:
                return None
            place = self.folder.trial_folder(proposal.number)
            place.mkdir(parents=True, exist_ok=True)
            save_policy(proposal.policy, place / "policy.yaml")
            outcome = self._known(proposal)
        if outcome is None:
            outcome = self.evaluator.evaluate(proposal.policy, proposal.name, place, trained_before(records))
            if self.timing is not None:
                outcome = self.timing.timed(outcome, proposal.policy, place, records)
        with uninterrupted():
            write_json(outcome, place / "outcome.json")
            self._tell(proposal, outcome)
        return TrialRecord(proposal.number, proposal.name, proposal.policy, outcome, place)

    def _known(self, proposal: Proposal) -> Outcome | None:
        """The outcome of an earlier trial of the very same policy: it would come out the same again."""
        earlier = self.search.find_told(proposal.policy)
        if earlier is None:
            return None
        outcome = read_json(Outcome, self.folder.trial_folder(earlier) / "outcome.json")
        note = f"not trained again: the same policy as trial {earlier}"
        return outcome.model_copy(update={"policy_name": proposal.name, "notes": (*outcome.notes, note)})

    def _tell(self, proposal: Proposal, outcome: Outcome) -> None:
        number, speed = proposal.number, self.info.speed.of(outcome)
        if outcome.status == "trained" and outcome.quality is not None and speed is not None:
            self.search.tell(number, outcome.quality, speed, self.lessons.quality_lost(outcome))
        elif outcome.status == "failed":
            self.search.tell_failed(number, outcome.cause or "failed")
        else:
            blamed = self.lessons.blamed(outcome, proposal.choices)
            self.search.tell_infeasible(number, outcome.cause or "infeasible", blamed)
