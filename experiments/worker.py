"""A worker: makes trials for a study that a search has begun, until it is over."""

import time
from dataclasses import dataclass, field

from ..search.study import Busy
from .attempts import Attempts
from .budget import Budget
from .cost import Cost, cost_of
from .failures_in_a_row import stop_reason
from .home import StudyFolder
from .progress import Display, describe
from .records import TrialRecord
from .study_file import point_of


@dataclass(frozen=True)
class Worker:
    """Makes trials for one study; one whose own trials fail in a row gives up, since it may be its machine."""

    attempts: Attempts
    budget: Budget
    steps: int
    most_failures: int
    made: list[TrialRecord] = field(default_factory=list[TrialRecord])

    def work(self, display: Display) -> int:
        """Until there is nothing left to do, which is said with the reason; how many trials it made."""
        spent = _Spent(self.attempts.folder)
        self.attempts.set_aside()
        records = self.attempts.arrivals([])
        while (reason := self._over(spent)) is None:
            self.attempts.recover(records)
            records += self.attempts.arrivals(records)
            found = self.attempts.next(records, self.budget.trials)
            if found is None:
                reason = "nothing is left to try"
                break
            if isinstance(found, Busy):
                self.attempts.wait(records, lambda: self._over(spent) is not None)
                continue
            records.append(found)
            self.made.append(found)
            display.note(describe(found, point_of(found, self.attempts.info)))
        self.attempts.mirror.level_costs()
        display.note(f"{len(self.made)} trials made by {self.attempts.worker}; {reason}")
        return len(self.made)

    def _over(self, spent: "_Spent") -> str | None:
        if (ended := self.attempts.search.ended()) is not None:
            return f"the study has ended: {ended}"
        if (failures := stop_reason(self.made, self.most_failures)) is not None:
            return f"this worker gives up: {failures}"
        self.attempts.mirror.level_costs()
        return self.attempts.used_up(self.budget, spent.cost, self.steps)


class _Spent:
    """What the study has cost, as a worker sees it: between the entries of the search its clock goes on."""

    def __init__(self, folder: StudyFolder) -> None:
        self._folder = folder
        self._noted_s, self._since_s = -1.0, 0.0

    @property
    def cost(self) -> Cost:
        """Until now."""
        cost, now_s = cost_of(self._folder), time.monotonic()
        if cost.time_s != self._noted_s:
            self._noted_s, self._since_s = cost.time_s, now_s
        return cost.model_copy(update={"time_s": cost.time_s + now_s - self._since_s})
