"""Trains the best of each length on to the next, and float32 too: what is lost is a difference at one length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import write_json
from ..evaluators.outcome import Outcome
from ..evaluators.request import END_FILE
from ..search.promotion import Contender, Yardstick, lengths_of
from ..search.study import Search
from .budget import Budget
from .cost import Ledger
from .experiment_file import Rungs
from .lessons import Lessons
from .mirror import Mirror
from .progress import Display
from .records import StudyInfo, TrialRecord
from .study_file import BASELINE

# A confirmation trains as long as the longest trial, six times: so much of a whole training it may be by itself.
LONGEST_SHARE = 0.15
MOST_BY_ITSELF = 3


@dataclass(frozen=True)
class Longer:
    """What it takes to train the trials of one search longer; `lengths` are in steps, the first is a trial's own.

    `noise` is float32's standard deviation in quality. Each call changes the records in place, writes their
    outcomes, hands them in and tells the search, and gives the records that are changed. A trial shares what
    becomes of another one that is the same training.
    """

    info: StudyInfo
    search: Search
    evaluator: Evaluator
    lessons: Lessons
    lengths: tuple[int, ...]
    noise: float
    budget: Budget
    ledger: Ledger
    mirror: Mirror
    _broken: set[int] = field(default_factory=set[int])

    def climb(self, records: list[TrialRecord], display: Display) -> list[TrialRecord]:
        """Train on whoever is among the best third of its length, as long as the budget lasts."""
        changed: dict[int, TrialRecord] = {}
        while (chosen := self._next(records)) is not None and (lifted := self.lift(chosen, records, display)):
            changed |= {record.number: record for record in lifted}
        self._forget_hopeless(records)
        return list(changed.values())

    def lift(self, record: TrialRecord, records: list[TrialRecord], display: Display) -> list[TrialRecord]:
        """Train one trial on to the next length; nothing where it is at the last, or the budget does not last."""
        target = self.next_length(record)
        base = baseline_of(records)
        own = next((each for each in records if _alike(each, record) and each.outcome.steps_run), record)
        if target is None or base is None or {base.number, own.number} & self._broken:
            return []
        if own.outcome.steps >= target:
            # A worker had shared its outcome before it was trained on.
            return self._share(own, own.outcome, records)
        needed = [each for each in (base, own) if each.outcome.steps < target]
        cost_steps = sum(target - (each.outcome.steps if _saved(each) else 0) for each in needed)
        cost_steps += self.search.in_flight() * self.lengths[0]
        if self.budget.out_of_time(self.ledger.cost) or not self.budget.affords(self.ledger.cost, cost_steps):
            return []
        changed: list[TrialRecord] = []
        for each in needed:
            if not (lifted := self._train_on(each, target, records, display)):
                break
            changed += lifted
        return changed

    def next_length(self, record: TrialRecord) -> int | None:
        """The length after the one that a trial has reached; None where it does not train, or is at the last."""
        if record.outcome.status != "trained":
            return None
        return next((length for length in self.lengths if length > record.outcome.steps), None)

    def reconcile(self, records: Sequence[TrialRecord]) -> None:
        """Tell the search what an earlier start had written down and not told it any more."""
        told = {each.number: each for each in self.search.finished()}
        for record in records:
            known = told.get(record.number)
            if known is not None and known.status == "trained" and known.quality != record.outcome.quality:
                self._tell(record, records)

    def forget(self, records: Sequence[TrialRecord]) -> None:
        """Delete all that was kept for training on: the search is over. A later one can train from the start."""
        for record in records:
            (record.folder / END_FILE).unlink(missing_ok=True)

    def _next(self, records: Sequence[TrialRecord]) -> TrialRecord | None:
        for length, _ in pairwise(self.lengths):
            yardstick, contenders = self._yardstick(records), list(self._contenders(records, length))
            gone_on = {each.number for each in records if _gone_on(each, length)} | self._broken
            best = yardstick and yardstick.next_up(contenders, gone_on)
            if best is not None:
                return next(each for each in records if each.number == best.number)
        return None

    def _yardstick(self, records: Sequence[TrialRecord]) -> Yardstick | None:
        base = baseline_of(records)
        speed = None if base is None else self.info.speed.of(base.outcome)
        if base is None or speed is None:
            return None
        allowed = self.info.tolerance * abs(base.outcome.quality or 0.0)
        return Yardstick(speed, self.noise, allowed)

    def _contenders(self, records: Sequence[TrialRecord], length: int) -> Iterator[Contender]:
        """The trials that trained to this length themselves, whatever became of them afterwards."""
        base = baseline_of(records)
        for record in records:
            speed = self.info.speed.of(record.outcome)
            lost = None if base is None else record.outcome.quality_lost(base.outcome, length)
            if record.name != BASELINE and record.outcome.steps_run and speed is not None and lost is not None:
                yield Contender(record.number, speed, lost)

    def _train_on(
        self, record: TrialRecord, target: int, records: list[TrialRecord], display: Display
    ) -> list[TrialRecord]:
        """The records that are changed by it; none where it broke off, or where float32 does not train so long."""
        outcome = self._evaluator(target, records).go_on(record.policy, record.folder, record.outcome)
        if outcome.status == "failed" or (record.name == BASELINE and outcome.status != "trained"):
            self._broken.add(record.number)
            why = outcome.cause if outcome.message is None else f"{outcome.cause}: {outcome.message}"
            display.note(f"{record.title} could not be trained on to {target} steps: {why}")
            return []
        changed = self._share(record, outcome, records)
        display.note(f"{record.title} {self._words(outcome, records)}")
        return changed

    def _share(self, trained: TrialRecord, outcome: Outcome, records: list[TrialRecord]) -> list[TrialRecord]:
        """Put the outcome of a training in place of that of every trial that it stands for."""
        changed: list[TrialRecord] = []
        for place, each in enumerate(records):
            if _alike(each, trained) and each.outcome.losses != outcome.losses:
                records[place] = replace(each, outcome=_shared(outcome, each, trained))
                changed.append(records[place])
        for each in changed:
            write_json(each.outcome, each.folder / "outcome.json")
            self.mirror.hand_in(each.number)
            self._tell(each, records)
        return changed

    def _evaluator(self, target: int, records: Sequence[TrialRecord]) -> Evaluator:
        base = baseline_of(records)
        curve = () if base is None else tuple(loss for loss in base.outcome.losses if loss is not None)
        return replace(
            self.evaluator,
            steps=target,
            keep_state=target < self.lengths[-1],
            float32_losses=(*self.evaluator.float32_losses, curve) if self.evaluator.float32_losses else (),
        )

    def _tell(self, record: TrialRecord, records: Sequence[TrialRecord]) -> None:
        outcome, base = record.outcome, baseline_of(records)
        told = next(each for each in self.search.finished() if each.number == record.number)
        if told.status != "trained":
            return
        if outcome.quality is not None and outcome.status == "trained":
            lost = None if base is None else outcome.quality_lost(base.outcome)
            self.search.tell_longer(record.number, outcome.quality, lost)
        else:
            blamed = self.lessons.blamed(outcome, told.choices)
            self.search.tell_longer_infeasible(record.number, outcome.cause or "infeasible", blamed)

    def _words(self, outcome: Outcome, records: Sequence[TrialRecord]) -> str:
        if outcome.quality is None:
            return f"was trained on and does not count any more: {outcome.cause}"
        base = baseline_of(records)
        lost = None if base is None or outcome is base.outcome else outcome.quality_lost(base.outcome)
        against = "" if lost is None else f", {lost:.2g} lost against float32 of that length"
        return f"was trained on to {outcome.steps} steps: {outcome.metric} {outcome.quality:.5g}{against}"

    def _forget_hopeless(self, records: Sequence[TrialRecord]) -> None:
        """Delete what was kept of trials that cannot go on, whatever the rest of the planned ones come to."""
        yardstick = self._yardstick(records)
        for length in self.lengths[:-1] if yardstick else ():
            contenders = list(self._contenders(records, length))
            hopeless = yardstick.hopeless(contenders, self.info.trials_planned) if yardstick else ()
            for record in records:
                if record.number in hopeless and record.outcome.steps == length:
                    (record.folder / END_FILE).unlink(missing_ok=True)


def lengths_for(rungs: Rungs, steps: int, full_steps: int) -> tuple[int, ...]:
    """The lengths of training that an experiment asks for.

    "auto" takes at most three, of which the longest is at most 15% of a whole training: the choice is confirmed at
    that length, three seeds of it and of float32.
    """
    if rungs != "auto":
        return lengths_of(steps, rungs, full_steps)
    most = lengths_of(steps, MOST_BY_ITSELF, full_steps)
    return tuple(length for length in most if length == steps or length <= LONGEST_SHARE * full_steps)


def baseline_of(records: Sequence[TrialRecord]) -> TrialRecord | None:
    """The float32 trial, if it has a quality."""
    return next((each for each in records if each.name == BASELINE and each.outcome.quality is not None), None)


def _gone_on(record: TrialRecord, length: int) -> bool:
    return record.outcome.steps > length or record.outcome.status != "trained"


def _saved(record: TrialRecord) -> bool:
    return (record.folder / END_FILE).exists()


def _alike(one: TrialRecord, other: TrialRecord) -> bool:
    """Whether two trials are one and the same training."""
    ours, theirs = one.outcome.evidence, other.outcome.evidence
    if one.outcome.digest == other.outcome.digest:
        return one.outcome.status == other.outcome.status
    if ours is None or theirs is None or one.outcome.status != other.outcome.status:
        return False
    return ours.training_key(one.policy) == theirs.training_key(other.policy)


def _shared(outcome: Outcome, record: TrialRecord, trained: TrialRecord) -> Outcome:
    """What a training came to, for each trial that it stands for."""
    if record.number == trained.number:
        return outcome
    note = f"not trained again: the same training step as trial {trained.number}"
    shared = record.outcome.with_figures_of(outcome)
    return shared.model_copy(update={"notes": (*outcome.notes, note)})
