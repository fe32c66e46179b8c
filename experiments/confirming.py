"""The end of a search: its choice, then the rest of its front, are held against float32 once more."""

from collections.abc import Collection
from dataclasses import dataclass

from ..evaluators.evaluator import Evaluator
from ..policies import load_policy
from ..policies.errors import HalfwiseError
from ..search.front import Point
from .conclusion import conclude
from .confirmation import confirm, confirmation_of
from .experiment_file import Confirm
from .home import StudyFolder
from .long_float32 import FRESH_SEEDS, all_kept, confirmation_steps, is_kept, long_float32
from .progress import Display
from .records import StudyInfo, StudySummary, TrialRecord
from .side_by_side import SideBySide
from .study_file import BASELINE, read_records

# Of a front, so many of its fastest are confirmed at most.
FRONT_CONFIRMED = 3


@dataclass(frozen=True)
class Confirming:
    """The fastest and best of many trials is above all the luckiest: what is chosen is tried again.

    Its quality with fresh seeds and a longer training, as `scope` says; its speed side by side with float32, where
    speed is measured. Float32 itself needs neither. A choice that does not hold is taken back, and the next one is
    tried. Then the fastest of the front follow, as long as all confirmations together stay within one full
    training. `allowance_steps` is how many training steps may still be spent, None for no such bound: the first
    choice is confirmed whatever it says.
    """

    info: StudyInfo
    folder: StudyFolder
    evaluator: Evaluator
    timing: SideBySide | None
    scope: Confirm = "front"
    allowance_steps: int | None = None

    def conclude(self, display: Display) -> StudySummary:
        """The conclusion with a choice that holds, and with as much of its front confirmed as is allowed."""
        before = steps_trained(self.folder)
        choices: set[int] = set()
        others: set[int] = set()
        while True:
            now = _Now(self.info, self.folder, before)
            if (best := _open_choice(now, choices)) is not None:
                first = not choices
                choices.add(best.number)
                if first or best.confirmed or self._affords(now):
                    self._try_seeds(now.record(best), now, display)
                self._time(now.record(best), now, display)
            elif (point := self._open_point(now, others)) is not None:
                others.add(point.number)
                self._try_seeds(now.record(point), now, display)
            else:
                return now.summary

    def _open_point(self, now: "_Now", tried: Collection[int]) -> Point | None:
        """The fastest point of the front that is not confirmed yet, within the bounds."""
        confirmed = sum(confirmation_of(record) is not None for record in now.records)
        if self.scope != "front" or confirmed >= FRONT_CONFIRMED:
            return None
        full_steps = self.evaluator.survey.full_steps
        if not self._affords(now) or steps_trained(self.folder) + self._cost_steps(now) > full_steps:
            return None
        fastest = [point for point in now.summary.front if point.name != BASELINE][:FRONT_CONFIRMED]
        return next((each for each in fastest if not each.confirmed and each.number not in tried), None)

    def _affords(self, now: "_Now") -> bool:
        """Whether one more confirmation keeps to the allowance."""
        return self.allowance_steps is None or now.spent_steps + self._cost_steps(now) <= self.allowance_steps

    def _cost_steps(self, now: "_Now") -> int:
        """What one more confirmation takes, and float32's own where it is missing."""
        steps = confirmation_steps(self.evaluator, now.records)
        return FRESH_SEEDS * steps * (1 if is_kept(self.folder, steps) else 2)

    def _try_seeds(self, record: TrialRecord, now: "_Now", display: Display) -> None:
        """Confirm the policy, unless it was before; what keeps it from being confirmed is said."""
        if self.scope == "none" or confirmation_of(record) is not None:
            return
        steps = confirmation_steps(self.evaluator, now.records)
        display.note(f"training {record.title} again with {FRESH_SEEDS} fresh seeds, {steps} steps each")
        try:
            float32 = long_float32(self.evaluator, now.float32.policy, self.folder, steps)
            found = confirm(record, self.evaluator, float32, self.info.tolerance)
        except HalfwiseError as error:
            display.note(f"{record.title} could not be confirmed: {error}")
            return
        display.note(f"{record.title} {found}")

    def _time(self, record: TrialRecord, now: "_Now", display: Display) -> None:
        """Measure the chosen policy's speed once more, where speed is measured and it was not before."""
        best = now.summary.best
        if self.timing is not None and now.summary.confirmed is None and best is not None:
            self.timing.confirm(best, load_policy(record.folder / "policy.yaml"), self.folder, display)


class _Now:
    """What a study has come to at one moment, and the steps that confirmations took since the first one."""

    def __init__(self, info: StudyInfo, folder: StudyFolder, before_steps: int) -> None:
        self.records = read_records(folder)
        self.summary = conclude(info, folder, self.records)
        self.spent_steps = steps_trained(folder) - before_steps

    def record(self, point: Point) -> TrialRecord:
        return next(record for record in self.records if record.number == point.number)

    @property
    def float32(self) -> TrialRecord:
        return next(record for record in self.records if record.name == BASELINE)


def steps_trained(folder: StudyFolder) -> int:
    """The training steps that all confirmations of a study took so far, those of float32 included."""
    confirmations = [found for record in read_records(folder) if (found := confirmation_of(record)) is not None]
    return sum(found.steps_trained for found in (*confirmations, *all_kept(folder)))


def _open_choice(now: _Now, tried: Collection[int]) -> Point | None:
    """The chosen policy, once for each policy that is chosen; float32 itself needs no confirmation."""
    best = now.summary.best
    return None if best is None or best.name == BASELINE or best.number in tried else best
