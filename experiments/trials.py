"""The trials of one search: ask, train, write down, tell, train on, show; until there is a reason to end."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Outcome
from ..policies import save_policy
from ..search.propose.beliefs import Beliefs
from ..search.settled import BELIEF_MOVED, front_moved
from ..search.study import Proposal, Search
from .budget import Budget
from .conclusion import conclude, findings
from .cost import Ledger
from .home import StudyFolder
from .interrupts import uninterrupted
from .lessons import Lessons
from .longer import Longer, baseline_of
from .paired import resolution_of
from .progress import Display
from .records import StudyInfo, StudySummary, TrialRecord
from .side_by_side import SideBySide
from .study_file import has_relapsed, read_records, trained_before
from .tracking import Tracker


@dataclass(frozen=True)
class End:
    """Why no further trial was made; `settled` is the trial that nothing can improve on, if that is why."""

    reason: str
    settled: int | None = None


@dataclass(frozen=True)
class Trials:
    """What all trials of one search share; `timing` is None where speed is priced."""

    info: StudyInfo
    folder: StudyFolder
    search: Search
    evaluator: Evaluator
    lessons: Lessons
    timing: SideBySide | None
    budget: Budget
    ledger: Ledger
    longer: Longer

    def run(self, tracker: Tracker, display: Display) -> End:
        """Try policies until the budget is used up, counting what earlier starts cost, or nothing is left to find.

        The choice has then reached the last length of training, as far as the budget allowed.
        """
        records = read_records(self.folder)
        display.begin(self._done(), self.budget.trials)
        self.ledger.note_end(None)
        self.longer.reconcile(records)
        try:
            end = self._until_the_end(records, tracker, display)
            self._lift_choice(records, tracker, display)
        finally:
            display.end()
        self.ledger.note_end(end.reason)
        display.note(f"The search ended: {end.reason}.")
        return end

    def refuted(self, end: End) -> bool:
        """Whether the trial that had settled the search was spoken against since."""
        return any(each.number == end.settled and has_relapsed(each) for each in read_records(self.folder))

    def _until_the_end(self, records: list[TrialRecord], tracker: Tracker, display: Display) -> End:
        while True:
            if (settled := self._settled(records, tracker, display)) is not None:
                return settled
            used_up = self.budget.used_up(self._done(), self.ledger.cost, self.evaluator.steps)
            if used_up is not None:
                return End(used_up)
            summary, beliefs = findings(self.info, self.folder, records), self.search.beliefs()
            record = self._try_one(records)
            if record is None:
                return End(f"{self.info.sampler} has nothing left to try that could be faster than float32")
            records.append(record)
            with uninterrupted():
                tracker.log_trial(record)
                now = conclude(self.info, self.folder, records)
            display.trial(record, now.points[-1], now.best)
            if changed := self.longer.climb(records, display):
                self._follow(changed, tracker)
                now = findings(self.info, self.folder, records)
            moved = self._moved(beliefs) or self._front_moved(summary, now)
            self.ledger.note_calm(0 if moved else self.ledger.cost.calm_trials + 1)

    def _done(self) -> int:
        return sum(not told.interrupted for told in self.search.finished())

    def _moved(self, before: Beliefs | None) -> bool:
        """Whether a belief has; without beliefs nobody can say that nothing has changed."""
        after = self.search.beliefs()
        return before is None or after is None or after.moved(before) > BELIEF_MOVED

    def _front_moved(self, before: StudySummary, after: StudySummary) -> bool:
        resolution = resolution_of(self.info, self.folder, after.baseline)
        return front_moved(before.front, after.front, resolution)

    def _settled(self, records: list[TrialRecord], tracker: Tracker, display: Display) -> End | None:
        """The end, where no trial can improve on one that has the last length; None where speed is measured.

        A trial that a confirmation has spoken against settles nothing.
        """
        while self.info.priced_for is not None and (found := self.search.settled()) is not None:
            number = self.search.find_told(found[0])
            record = next((each for each in records if each.number == number), None)
            if record is None or has_relapsed(record):
                return None
            lifted = self.longer.lift(record, records, display)
            self._follow(lifted, tracker)
            if not lifted:
                return End(self._settled_words(record, records, found[1].everything), record.number)
        return None

    def _settled_words(self, record: TrialRecord, records: Sequence[TrialRecord], everything: bool) -> str:
        outcome, base = record.outcome, baseline_of(records)
        lost = None if base is None else outcome.quality_lost(base.outcome)
        figure = "no more than noise" if lost is None else f"{lost:.2g} of {self.info.metric}, within noise,"
        rests = f"{record.title} loses {figure} against float32 over {outcome.steps} steps"
        if everything:
            return f"everything may go low: {rests}, and no policy is priced faster"
        return f"nothing faster is left: {rests}, and what is priced faster holds what was shown to fail"

    def _lift_choice(self, records: list[TrialRecord], tracker: Tracker, display: Display) -> None:
        """Train the chosen policy to the last length; where it does not last, the next choice."""
        while True:
            with uninterrupted():
                best = conclude(self.info, self.folder, records).best
            record = next((each for each in records if best and each.number == best.number), None)
            base = baseline_of(records)
            if record is None or base is None or record.number == base.number:
                return
            lifted = self.longer.lift(record, records, display)
            self._follow(lifted, tracker)
            if not lifted:
                return

    def _follow(self, changed: Sequence[TrialRecord], tracker: Tracker) -> None:
        with uninterrupted():
            for record in changed:
                tracker.log_longer(record)

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
            self._tell(proposal, outcome, records)
        return TrialRecord(proposal.number, proposal.name, proposal.policy, outcome, place)

    def _known(self, proposal: Proposal) -> Outcome | None:
        """The outcome of an earlier trial of the very same policy: it would come out the same again."""
        earlier = self.search.find_told(proposal.policy)
        if earlier is None:
            return None
        outcome = read_json(Outcome, self.folder.trial_folder(earlier) / "outcome.json").shared()
        note = f"not trained again: the same policy as trial {earlier}"
        return outcome.model_copy(update={"policy_name": proposal.name, "notes": (*outcome.notes, note)})

    def _tell(self, proposal: Proposal, outcome: Outcome, records: Sequence[TrialRecord]) -> None:
        number, speed = proposal.number, self.info.speed.of(outcome)
        base = baseline_of(records)
        if outcome.status == "trained" and outcome.quality is not None and speed is not None:
            lost = self.lessons.quality_lost(outcome, base and base.outcome)
            self.search.tell(number, outcome.quality, speed, lost)
        elif outcome.status == "failed":
            self.search.tell_failed(number, outcome.cause or "failed")
        else:
            blamed = self.lessons.blamed(outcome, proposal.choices)
            self.search.tell_infeasible(number, outcome.cause or "infeasible", blamed)
