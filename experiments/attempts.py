"""One trial from its proposal to what the study learns from it, made alike by the search and by its workers.

The order is what makes a kill at any moment harmless: the proposal is in the storage, the outcome is on the disk,
then (where machines do not share a folder) in the storage, then the trial is told, then others hear of it. A trial
whose outcome is on the disk is finished: whoever finds it left behind tells it.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Outcome
from ..policies import save_policy
from ..policies.errors import HalfwiseError
from ..search.lease import BEAT_S, LeaseLost
from ..search.study import Busy, Proposal, Search
from ..search.told import Told
from .budget import Budget
from .cost import Cost
from .home import StudyFolder
from .interrupts import uninterrupted
from .lessons import Lessons
from .longer import baseline_of
from .mirror import Mirror
from .records import StudyInfo, TrialRecord
from .side_by_side import SideBySide
from .study_file import BASELINE, read_record, trained_before

# How often a process that waits for others looks whether one of them has finished.
POLL_S = 0.5

_OUTCOME = "outcome.json"
# What became of a trial that was given up meanwhile: kept, and counted for nothing.
_NOT_COUNTED = "outcome-not-counted.json"


@dataclass(frozen=True)
class Attempts:
    """What it takes to try one policy; `timing` is None where speed is priced, `worker` for the search itself."""

    info: StudyInfo
    folder: StudyFolder
    search: Search
    evaluator: Evaluator
    lessons: Lessons
    timing: SideBySide | None
    mirror: Mirror
    worker: str | None = None

    def next(self, records: Sequence[TrialRecord], limit: int) -> TrialRecord | Busy | None:
        """Ask, train, measure side by side if speed is measured, write down, tell; None: nothing is left.

        `limit` is how many trials the study may have in all.
        """
        with beating(self.search):
            while True:
                with uninterrupted():
                    proposal = self._asked(limit)
                    if not isinstance(proposal, Proposal):
                        return proposal
                    outcome = self._known(proposal)
                if outcome is None:
                    outcome = self._tried(proposal, records)
                with uninterrupted():
                    if (record := self._finished(proposal, outcome, records)) is not None:
                        return record

    def arrivals(self, records: Sequence[TrialRecord]) -> list[TrialRecord]:
        """The finished trials of the study that are not among the records, whoever made them."""
        known = {record.number for record in records}
        new = [told.number for told in self._counted() if told.number not in known]
        self.mirror.fetch(new)
        places = map(self.folder.trial_folder, new)
        return [read_record(place) for place in places if (place / _OUTCOME).exists()]

    def done(self) -> int:
        """How many trials count that are over."""
        return len(self._counted())

    def used_up(self, budget: Budget, spent: Cost, steps: int) -> str | None:
        """Why no further trial of `steps` steps may start, in words; one that runs is taken for spent."""
        expected = spent.model_copy(update={"steps": spent.steps + self.search.in_flight() * steps})
        return budget.used_up(self.done(), expected, steps)

    def recover(self, records: Sequence[TrialRecord]) -> bool:
        """Tell what processes that are gone had finished, and give up what they had not; whether there was any."""
        found = self.search.abandoned()
        for proposal in found:
            # Another process may be faster.
            with uninterrupted(), suppress(LeaseLost):
                self.mirror.fetch([proposal.number])
                file = self._place(proposal) / _OUTCOME
                outcome = read_json(Outcome, file) if file.exists() else None
                if outcome is None or outcome.policy != str(proposal.policy):
                    self.search.give_up(proposal.number)
                else:
                    self.search.adopt(proposal.number)
                    self._tell(proposal, outcome, records)
        return bool(found)

    def wait(self, records: Sequence[TrialRecord], enough: Callable[[], bool]) -> None:
        """Until a trial of another process has ended or was left behind, or it is `enough`."""
        before = self._traffic()
        while self._traffic() == before and not enough():
            time.sleep(POLL_S)
            if self.recover(records):
                return

    def set_aside(self) -> None:
        """Put away the outcomes of trials that were given up before their outcome was written."""
        for told in self.search.finished():
            if told.interrupted:
                _put_away(self.folder.trial_folder(told.number))

    def _counted(self) -> list[Told]:
        return [told for told in self.search.finished() if not told.interrupted]

    def _traffic(self) -> tuple[int, int]:
        return len(self.search.finished()), self.search.in_flight()

    def _asked(self, limit: int) -> Proposal | Busy | None:
        if self._lacks_float32() and (flying := self.search.in_flight()):
            return Busy(flying)
        proposal = self.search.ask(limit)
        if not isinstance(proposal, Proposal):
            return proposal
        if proposal.name != BASELINE and self._lacks_float32():
            # Another process had asked for float32 in the same moment.
            self.search.give_up(proposal.number)
            return Busy(self.search.in_flight())
        # Whoever ends the study says so first and then looks for trials in flight.
        if self.search.ended() is not None:
            self.search.give_up(proposal.number)
            return None
        place = self._place(proposal)
        place.mkdir(parents=True, exist_ok=True)
        # Where a journal had lost its end, the number may have been another trial's.
        _put_away(place)
        save_policy(proposal.policy, place / "policy.yaml")
        return proposal

    def _lacks_float32(self) -> bool:
        """Whether speed is measured and the trial that every other one is held against is not over yet."""
        if self.timing is None:
            return False
        return not any(told.name == BASELINE for told in self._counted())

    def _known(self, proposal: Proposal) -> Outcome | None:
        """The outcome of an earlier trial of the very same policy: it would come out the same again."""
        earlier = self.search.find_told(proposal.policy)
        if earlier is None:
            return None
        self.mirror.fetch([earlier])
        file = self.folder.trial_folder(earlier) / _OUTCOME
        if not file.exists():
            return None
        outcome = read_json(Outcome, file).shared()
        note = f"not trained again: the same policy as trial {earlier}"
        return outcome.model_copy(update={"policy_name": proposal.name, "notes": (*outcome.notes, note)})

    def _tried(self, proposal: Proposal, records: Sequence[TrialRecord]) -> Outcome:
        place = self._place(proposal)
        try:
            outcome = self.evaluator.evaluate(proposal.policy, proposal.name, place, trained_before(records))
            if self.timing is not None:
                known = [*records, *self.arrivals(records)]
                outcome = self.timing.timed(outcome, proposal.policy, place, known)
            return outcome
        except BaseException:
            # Where even that fails, the lease runs out.
            with uninterrupted(), suppress(HalfwiseError):
                self.search.give_up(proposal.number)
            raise

    def _finished(
        self, proposal: Proposal, outcome: Outcome, records: Sequence[TrialRecord]
    ) -> TrialRecord | None:
        """The trial on disk and told; None where it was given up meanwhile because this process seemed gone."""
        place = self._place(proposal)
        write_json(outcome.model_copy(update={"worker": self.worker}), place / _OUTCOME)
        self.mirror.hand_in(proposal.number)
        try:
            self._tell(proposal, outcome, records)
        except LeaseLost:
            if not any(told.number == proposal.number for told in self._counted()):
                _put_away(place)
                return None
        return read_record(place)

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

    def _place(self, proposal: Proposal) -> Path:
        return self.folder.trial_folder(proposal.number)


@contextmanager
def beating(search: Search) -> Iterator[None]:
    """Renew this process's leases while this is open."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_S):
            # The storage may be away for a while; whoever trains hears of it at the end.
            with suppress(HalfwiseError):
                search.beat()

    thread = threading.Thread(target=beat, name="halfwise leases", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _put_away(place: Path) -> None:
    if (place / _OUTCOME).exists():
        (place / _OUTCOME).replace(place / _NOT_COUNTED)
