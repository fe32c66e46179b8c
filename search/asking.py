"""How a trial begins: which policy is next, when several workers ask."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial

from ..policies import Policy
from .closing import drop_unproposed, withdraw
from .leases import Held, Leases
from .parts import Part, Parts
from .propose.optuna_sampler import CHOICES
from .setup import Setup
from .told import OWNER, PROPOSAL, Busy, Proposal, counted
from .turns import Turns


@dataclass
class Asking:
    """Proposes in turns, so that each proposal is made in sight of all before it, and has a number of its own."""

    setup: Setup
    parts: Parts
    turns: Turns
    leases: Leases
    # Whether there was nothing to propose the last time, and what the study was like if the advisor had nothing.
    _waits: bool = False
    _nothing_at: list[Any] | None = None

    def ask(self, limit: int | None) -> Proposal | Busy | None:
        """The next proposal, if no more than `limit` trials count then."""
        while True:
            # Who waits for something to propose takes no turn for each look.
            if self._waits and (self._full(limit) or self._nothing_at == self._standing()):
                return self._none_now()
            proposal = None
            with self.turns.taken() as turn, suppress(UpdateFinishedTrialError):
                proposal = self._next(limit)
            if not turn.lost:
                self._waits = proposal is None
                return proposal or self._none_now()
            # Others went on without this process, and may have made the same proposal.
            if proposal is not None:
                held = self.leases.held.pop(proposal.number)
                withdraw(held.part, held.place)

    def _none_now(self) -> Busy | None:
        running = len(self.leases.running())
        return Busy(running) if running else None

    def _full(self, limit: int | None) -> bool:
        return limit is not None and sum(len(counted(part.trials())) for part in self.parts.of_trials) >= limit

    def _standing(self) -> list[Any]:
        trials = [(trial.number, trial.state) for part in self.parts.of_trials for trial in part.trials()]
        return [*trials, self.parts.sampled.study.user_attrs]

    def _next(self, limit: int | None) -> Proposal | None:
        levels, sampled = (drop_unproposed(part) for part in self.parts.of_trials)
        number = _next_number([*levels, *sampled])
        if limit is not None and len(counted(levels)) + len(counted(sampled)) >= limit:
            return None
        tried = {trial.user_attrs[PROPOSAL]["name"] for trial in counted(levels)}
        for name, policy in self.setup.levels:
            if name not in tried:
                return self._propose(
                    self.parts.levels, number, {"name": name}, lambda trial, chosen=policy: chosen
                )
        return self._draw(number, counted(sampled))

    def _draw(self, number: int, drawn: Sequence[FrozenTrial]) -> Proposal | None:
        """The advisor's proposal for the first free place among the draws: an interrupted one's, or a new one."""
        taken = {trial.user_attrs[PROPOSAL]["draw"] for trial in drawn}
        draw = next(place for place in count() if place not in taken)
        suggestion = self.setup.advisor.suggest(self.parts.sampled.study, draw)
        if suggestion is None:
            self._nothing_at = self._standing()
            return None
        return self._propose(self.parts.sampled, number, {"name": None, "draw": draw}, suggestion)

    def _propose(
        self, part: Part, number: int, facts: dict[str, Any], policy_for: Callable[[Trial], Policy]
    ) -> Proposal:
        trial = part.study.ask()
        policy = policy_for(trial)
        # Held first: a trial with a proposal of this process's that it does not hold is taken for abandoned.
        self.leases.held[number] = Held(part, trial.number)
        known = {"number": number, "digest": policy.digest, "policy": str(policy), **facts}
        try:
            trial.set_user_attr(PROPOSAL, {**known, OWNER: self.leases.owner.stored()})
        except UpdateFinishedTrialError:
            del self.leases.held[number]
            raise
        return Proposal(number, facts["name"], policy, trial.user_attrs.get(CHOICES, {}))


def _next_number(trials: Sequence[FrozenTrial]) -> int:
    return max((trial.user_attrs[PROPOSAL]["number"] for trial in trials), default=-1) + 1
