"""The running trials of a study: those that this process holds, and those whose workers may be gone."""

from dataclasses import dataclass, field

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial

from ..policies.errors import HalfwiseError
from .closing import close, drop_unproposed, give_up
from .lease import LeaseLost, Owner, Watch
from .parts import Part, Parts
from .told import (
    BEAT,
    OWNER,
    PROPOSAL,
    STATUS,
    Proposal,
    is_interrupted,
    is_running,
    owner_of,
    proposal_of,
)
from .turns import Turns


@dataclass
class Held:
    """A trial that this process holds; its place is its number in the Optuna study."""

    part: Part
    place: int
    beats: int = 0


@dataclass
class Leases:
    """Holds trials for their owner, and finds those that others left behind."""

    parts: Parts
    turns: Turns
    owner: Owner
    watch: Watch
    held: dict[int, Held] = field(default_factory=dict[int, Held])

    def running(self) -> list[tuple[Part, FrozenTrial]]:
        """All running trials, here and elsewhere, each with the part that it stands in."""
        return [(part, trial) for part in self.parts.of_trials for trial in part.running() if is_running(trial)]

    def own(self, number: int) -> Held:
        """A trial that this process holds.

        Raises:
            HalfwiseError: it holds no such trial.
        """
        if number not in self.held:
            running = ", ".join(map(str, self.held)) or "none"
            raise HalfwiseError(f"trial {number} is not running, so nothing can be told of it; running: {running}")
        return self.held[number]

    def beat(self) -> tuple[int, ...]:
        """Renew what this process holds, and look at the others'; gives the numbers that were lost."""
        self.turns.beat()
        lost = [number for number, held in tuple(self.held.items()) if not self._renew(held)]
        for part, trial in self.running():
            self._gone(part, trial)
        return tuple(lost)

    def abandoned(self) -> tuple[Proposal, ...]:
        """The trials whose workers are gone; one that has a status is closed as told."""
        self._sweep()
        gone = [(part, trial) for part, trial in self.running() if self._gone(part, trial)]
        for part, trial in gone:
            if STATUS in trial.user_attrs:
                close(part, trial.number, trial.user_attrs)
        return tuple(proposal_of(trial) for _, trial in gone if STATUS not in trial.user_attrs)

    def adopt(self, number: int) -> None:
        """Hold another's trial.

        Raises:
            LeaseLost: it is over by now.
            HalfwiseError: there is none.
        """
        part, place = self._place(number)
        try:
            part.storage.set_trial_user_attr(part.trial_id(place), OWNER, self.owner.stored())
        except UpdateFinishedTrialError as error:
            raise LeaseLost(f"trial {number} is over: another worker has told it, or given it up") from error
        self.held[number] = Held(part, place)

    def give_up(self, number: int) -> None:
        """Close a trial, whoever holds it, as interrupted; nothing happens to one that is over.

        Raises:
            HalfwiseError: there is none.
        """
        give_up(*self._place(number))
        self.held.pop(number, None)

    def _renew(self, held: Held) -> bool:
        """Whether the lease holds; that of a trial which is being told in this moment does."""
        held.beats += 1
        try:
            held.part.storage.set_trial_user_attr(held.part.trial_id(held.place), BEAT, held.beats)
        except UpdateFinishedTrialError:
            return not is_interrupted(held.part.latest(held.place))
        return True

    def _gone(self, part: Part, trial: FrozenTrial) -> bool:
        owner = owner_of(trial)
        if owner == self.owner:
            return trial.user_attrs[PROPOSAL]["number"] not in self.held
        return self.watch.gone((part.study_id, trial.number), owner, trial.user_attrs.get(BEAT, 0))

    def _sweep(self) -> None:
        """Remove what was left by those who were ended while they proposed."""
        left = [trial for part in self.parts.of_trials for trial in part.running() if not is_running(trial)]
        if self.turns.free() and left:
            with self.turns.taken():
                for part in self.parts.of_trials:
                    drop_unproposed(part)

    def _place(self, number: int) -> tuple[Part, int]:
        for part in self.parts.of_trials:
            for trial in part.trials():
                if trial.user_attrs.get(PROPOSAL, {}).get("number") == number:
                    return part, trial.number
        raise HalfwiseError(f"the study has no trial {number}")
