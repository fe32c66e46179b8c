"""The trials of one search: made here and by its workers, trained on, shown; until there is a reason to end."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..search.propose.beliefs import Beliefs
from ..search.settled import BELIEF_MOVED, front_moved
from ..search.study import Busy, Search
from .attempts import POLL_S, Attempts
from .budget import Budget
from .conclusion import conclude, findings
from .cost import Ledger
from .crew import Crew
from .failures_in_a_row import stop_reason
from .home import StudyFolder
from .interrupts import uninterrupted
from .longer import Longer, baseline_of
from .paired import resolution_of
from .progress import Display
from .records import StudyInfo, StudySummary, TrialRecord
from .study_file import has_relapsed, read_records
from .tracking import Tracker


@dataclass(frozen=True)
class End:
    """Why no further trial was made; `settled` is the trial that nothing can improve on, if that is why."""

    reason: str
    settled: int | None = None


@dataclass(frozen=True)
class Trials:
    """What all trials of one search share; after `most_failures` failed ones in a row it stops."""

    attempts: Attempts
    budget: Budget
    ledger: Ledger
    longer: Longer
    crew: Crew
    most_failures: int

    @property
    def info(self) -> StudyInfo:
        """What the study is."""
        return self.attempts.info

    @property
    def folder(self) -> StudyFolder:
        """Where the study is kept."""
        return self.attempts.folder

    @property
    def search(self) -> Search:
        """Who proposes."""
        return self.attempts.search

    def run(self, tracker: Tracker, display: Display) -> End:
        """Try policies until the budget is used up, counting what earlier starts cost, or nothing is left to find.

        Workers help meanwhile. When it ends nothing of the study is running any more, and the choice has reached
        the last length of training, as far as the budget allowed.
        """
        records = self._begin(display)
        try:
            with self.crew.at_work(display):
                end = self._until_the_end(records, tracker, display)
                self.search.note_ended(end.reason)
                self._wait_for_the_rest(records, tracker, display)
            self._lift_choice(records, tracker, display)
        finally:
            display.end()
        self.ledger.note_end(end.reason)
        display.note(f"The search ended: {end.reason}.")
        return end

    def refuted(self, end: End) -> bool:
        """Whether the trial that had settled the search was spoken against since."""
        return any(each.number == end.settled and has_relapsed(each) for each in read_records(self.folder))

    def _begin(self, display: Display) -> list[TrialRecord]:
        """The finished trials so far; what an earlier start left half done is done first."""
        self.search.note_ended(None)
        self.ledger.note_end(None)
        self.attempts.set_aside()
        records = self.attempts.arrivals([])
        if self.attempts.recover(records):
            records = self.attempts.arrivals([])
        display.begin(self.attempts.done(), self.budget.trials)
        self.longer.reconcile(records)
        return records

    def _until_the_end(self, records: list[TrialRecord], tracker: Tracker, display: Display) -> End:
        while True:
            self.crew.watch(display)
            self._take_in(records, tracker, display)
            if (end := self._over(records, tracker, display)) is not None:
                return end
            found = self.attempts.next(records, self.budget.trials)
            if found is None:
                return End(f"{self.info.sampler} has nothing left to try that could be faster than float32")
            if isinstance(found, Busy):
                self._wait(records, display)
            else:
                self._note(found, records, tracker, display)

    def _over(self, records: list[TrialRecord], tracker: Tracker, display: Display) -> End | None:
        if (settled := self._settled(records, tracker, display)) is not None:
            return settled
        if (failures := stop_reason(records, self.most_failures)) is not None:
            return End(failures)
        used_up = self.attempts.used_up(self.budget, self.ledger.cost, self.longer.lengths[0])
        return None if used_up is None else End(used_up)

    def _take_in(self, records: list[TrialRecord], tracker: Tracker, display: Display) -> None:
        """What workers have finished, and what processes that are gone have left behind."""
        self.attempts.mirror.level_costs()
        self.attempts.recover(records)
        for record in self.attempts.arrivals(records):
            self._note(record, records, tracker, display)

    def _note(self, record: TrialRecord, records: list[TrialRecord], tracker: Tracker, display: Display) -> None:
        """A trial has finished: tell everybody, and train on whoever is among the best now."""
        before, beliefs = findings(self.info, self.folder, records), self.search.beliefs()
        records.append(record)
        with uninterrupted():
            tracker.log_trial(record)
            now = conclude(self.info, self.folder, records)
        display.trial(record, now)
        if changed := self.longer.climb(records, display):
            self._follow(changed, tracker)
            now = findings(self.info, self.folder, records)
        moved = self._moved(beliefs) or self._front_moved(before, now)
        self.ledger.note_calm(0 if moved else self.ledger.cost.calm_trials + 1)

    def _wait(self, records: Sequence[TrialRecord], display: Display) -> None:
        def enough() -> bool:
            self.crew.watch(display)
            return self.budget.out_of_time(self.ledger.cost)

        self.attempts.wait(records, enough)

    def _wait_for_the_rest(self, records: list[TrialRecord], tracker: Tracker, display: Display) -> None:
        while True:
            flying = self.search.in_flight()
            self._take_in(records, tracker, display)
            if not flying:
                return
            time.sleep(POLL_S)

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
                tracker.log_trial(record)
