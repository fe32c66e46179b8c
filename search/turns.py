"""One process at a time proposes: turns that are given out by a storage, and taken in their order."""

import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from .lease import Owner, Watch

_OWNER, _TOKEN, _BEAT = "owner", "token", "beat"
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.005, 0.1


@dataclass
class Turn:
    """A turn that was taken; `lost` once it is over, if another process had ended it, taking this one for gone."""

    trial_id: int
    token: str
    lost: bool = False
    beats: int = 0


@dataclass
class Turns:
    """The turns of one study: trials of an Optuna study of their own, which numbers them without doubles.

    A turn is RUNNING while its owner waits or proposes, and has come when all before it are over. That of an owner
    that is gone is ended by whoever waits behind it; on one machine too: a stopped process would hold up all.
    """

    storage: BaseStorage
    study_id: int
    owner: Owner
    watch: Watch
    _held: list[Turn] = field(default_factory=list[Turn])

    @contextmanager
    def taken(self) -> Generator[Turn, None, None]:
        """Wait for a turn, and end it afterwards; `lost` then says whether it had been ended by another."""
        turn = self._ask()
        self._held.append(turn)
        try:
            while not self._is_next(turn):
                turn = self._again(turn)
            yield turn
        finally:
            self._held.remove(turn)
            turn.lost = not self._end(turn.trial_id, TrialState.COMPLETE)

    def beat(self) -> None:
        """Renew the turn that this process holds, if it holds one."""
        for turn in tuple(self._held):
            turn.beats += 1
            try:
                self.storage.set_trial_user_attr(turn.trial_id, _BEAT, turn.beats)
            except UpdateFinishedTrialError:
                continue

    def free(self) -> bool:
        """End the turns of those who are gone; whether nobody has one now."""
        return not self._waiting()

    def _ask(self) -> Turn:
        token = uuid.uuid4().hex
        attributes = {_OWNER: self.owner.stored(), _TOKEN: token}
        template = create_trial(state=TrialState.RUNNING, user_attrs=attributes)
        return Turn(self.storage.create_new_trial(self.study_id, template), token)

    def _is_next(self, turn: Turn) -> bool:
        """Wait until all before are over; false where this turn was ended meanwhile."""
        pause_s = _FIRST_PAUSE_S
        while True:
            waiting = {self._id(trial): trial for trial in self._waiting()}
            own = waiting.get(turn.trial_id)
            if own is None:
                return False
            before = [trial for trial in waiting.values() if trial.number < own.number]
            if not before:
                return True
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _again(self, turn: Turn) -> Turn:
        fresh = self._ask()
        self._held[self._held.index(turn)] = fresh
        return fresh

    def _waiting(self) -> list[FrozenTrial]:
        """The turns that are waited for or held, without those of owners that are gone, which are ended."""
        running = self.storage.get_all_trials(self.study_id, deepcopy=False, states=(TrialState.RUNNING,))
        return [trial for trial in running if not self._ended(trial)]

    def _ended(self, trial: FrozenTrial) -> bool:
        gone = self._gone(trial)
        if gone:
            self._end(self._id(trial), TrialState.FAIL)
        return gone

    def _gone(self, trial: FrozenTrial) -> bool:
        known = trial.user_attrs
        for turn in self._held:
            if turn.token == known.get(_TOKEN):
                # One that was asked for twice, since the storage's answer was lost, is held once.
                return turn.trial_id != self._id(trial)
        owner = Owner.read(known.get(_OWNER))
        dead = owner is not None and owner.alive() is False
        return dead or self.watch.silent(("turn", trial.number), known.get(_BEAT, 0))

    def _end(self, trial_id: int, state: TrialState) -> bool:
        """End a turn; whether it is this state that it ended with."""
        try:
            values = (0.0,) if state == TrialState.COMPLETE else None
            return self.storage.set_trial_state_values(trial_id, state, values)
        except UpdateFinishedTrialError:
            return self.storage.get_trial(trial_id).state == state

    def _id(self, trial: FrozenTrial) -> int:
        return self.storage.get_trial_id_from_study_id_trial_number(self.study_id, trial.number)
