"""One search: an Optuna study that is asked for policies and told what became of them, by one worker or several.

It is two Optuna studies: "levels" the fixed policies, which have no parameters, and "search" the sampler's
proposals. They are apart because one finished trial without parameters is enough to make Optuna's samplers see an
empty common search space: multivariate TPE would silently fall back to one parameter at a time, and NSGA-II to
random draws. A third gives out the turns to propose, a fourth holds documents.
"""

from collections.abc import Collection, Sequence
from types import MappingProxyType
from typing import Self

import optuna
from optuna.storages import BaseStorage
from optuna.trial import TrialState

from ..policies import Policy
from ..policies.errors import HalfwiseError
from .advisors import Advisor
from .asking import Asking
from .closing import Found, finite, tell
from .documents import Documents
from .front import Direction
from .lease import LeaseLost, Owner, Watch
from .leases import Leases
from .longer import keep_longer, latest_trials
from .parts import SAMPLED, Parts, part_name
from .propose.beliefs import Beliefs
from .propose.optuna_sampler import BLAMED, CAUSE, QUALITY_LOST
from .settled import Settled
from .setup import OtherTerms, Setup, Terms, changes_of
from .told import PROPOSAL, STATUS, Busy, Proposal, Told, counted, is_handed_out, told_of
from .turns import Turns

_TERMS, _ENDED = "terms", "ended"


class Search:
    """Proposes policies and learns from their outcomes; every call is in the storage when it returns.

    Any number of processes may have a study open: one at a time proposes, in sight of all that others run and
    have told. With one trial in flight, the same seed and the same outcomes give the same proposals, whether or
    not the search was stopped and reopened in between: each draw is seeded by the seed and its place among the
    draws that count; an interrupted one is made again.
    """

    def __init__(self, setup: Setup, parts: Parts, owner: Owner, watch: Watch) -> None:
        """Use `Search.create`."""
        self._setup = setup
        self._parts = parts
        turns = Turns(parts.turns.storage, parts.turns.study_id, owner, watch)
        self._leases = Leases(parts, turns, owner, watch)
        self._asking = Asking(setup, parts, turns, self._leases)
        self.documents = Documents(parts.documents.storage, parts.documents.study_id)

    @classmethod
    def create(
        cls,
        storage: BaseStorage,
        study: str,
        advisor: Advisor,
        quality_direction: Direction,
        fixed: Sequence[tuple[str, Policy]],
        judged_by: Terms = MappingProxyType({}),
        owner: Owner | None = None,
        watch: Watch | None = None,
        may_change: Collection[str] = (),
    ) -> Self:
        """Start a study in a storage, or go on with the one that it holds.

        `study` is its name in a storage of several, and empty in a journal of its own (`StorageAddress.prefix`).
        `judged_by` are terms that only the caller knows, in words: what speed is, how much memory is allowed.
        `owner` is who runs the trials that are asked for, this process if left out; `watch` decides when others
        are taken for gone. Running trials stay as they are: see `abandoned`. `may_change` names the terms with
        which a study goes on though they have changed; it holds the new ones then.

        Raises:
            OtherTerms: the study was started with other terms.
            HalfwiseError: the storage cannot be read or written.
        """
        setup = Setup(advisor, quality_direction, tuple(fixed), judged_by)
        parts = Parts.create(storage, study, quality_direction)
        _keep_terms(parts.sampled.study, setup, may_change)
        return cls(setup, parts, owner or Owner.here(), watch or Watch())

    def ask(self, limit: int | None = None) -> Proposal | Busy | None:
        """The next policy: the fixed ones in their order, then the advisor's.

        No more than `limit` trials are made, interrupted ones not counted. Where there is none to make, it is
        `Busy` as long as trials run, since one may be interrupted or lead further; None when nothing is left.
        """
        return self._asking.ask(limit)

    def tell(self, number: int, quality: float, speed: float, quality_lost: float | None = None) -> None:
        """A trial trained to this quality, at this speed (samples per second).

        `quality_lost` is what it lost against float32 on the same seed, where that is known: positive is worse.

        Raises:
            LeaseLost: the trial was given to another worker.
            HalfwiseError: the trial is not running, or a figure is not a finite number; the trial then runs
                on, and can be told as infeasible.
        """
        figures = {"quality": finite(number, "quality", quality), "speed": finite(number, "speed", speed)}
        if quality_lost is not None:
            figures[QUALITY_LOST] = finite(number, "quality lost", quality_lost)
        self._tell(number, {**figures, STATUS: "trained"})

    def tell_infeasible(self, number: int, cause: str, blamed: Sequence[str] = ()) -> None:
        """A trial ran, but its policy does not train: the sampler learns to keep away.

        `blamed` are the sites that a diagnosis named, where the space has sites.

        Raises:
            LeaseLost: the trial was given to another worker.
            HalfwiseError: the trial is not running.
        """
        self._tell(number, {CAUSE: cause, BLAMED: list(blamed), STATUS: "infeasible"})

    def tell_failed(self, number: int, cause: str) -> None:
        """A trial did not run to its end, which says nothing about its policy: the sampler learns nothing.

        Raises:
            LeaseLost: the trial was given to another worker.
            HalfwiseError: the trial is not running.
        """
        self._tell(number, {CAUSE: cause, STATUS: "failed"})

    def tell_longer(self, number: int, quality: float, quality_lost: float | None = None) -> None:
        """A trial that trained was trained longer, to this quality.

        Optuna's own samplers go on learning from the first length, where all trials can be compared.

        Raises:
            HalfwiseError: there is no such trial that trained, or a figure is not a finite number.
        """
        figures = {"quality": finite(number, "quality", quality)}
        if quality_lost is not None:
            figures[QUALITY_LOST] = finite(number, "quality lost", quality_lost)
        self._replace(number, figures)

    def tell_longer_infeasible(self, number: int, cause: str, blamed: Sequence[str] = ()) -> None:
        """A trial that trained turned out not to train any longer.

        Raises:
            HalfwiseError: there is no such trial that trained.
        """
        self._replace(number, {STATUS: "infeasible", CAUSE: cause, BLAMED: list(blamed)})

    def beat(self) -> tuple[int, ...]:
        """Renew the leases of the trials that this process runs, from any thread, and look at the others'.

        Gives the numbers of trials that were given to others: what they come to counts for nothing.
        """
        return self._leases.beat()

    def abandoned(self) -> tuple[Proposal, ...]:
        """The running trials whose workers are gone: each is to be adopted or given up.

        On this machine that is seen at once, elsewhere when the lease was not renewed for long enough, by this
        process's clock, while it looked (`beat`, or this). One that its worker was just telling is closed as told.
        """
        return self._leases.abandoned()

    def adopt(self, number: int) -> None:
        """Let this process tell a trial that another one ran: its outcome was found.

        Raises:
            LeaseLost: the trial is over by now.
            HalfwiseError: there is no such trial.
        """
        self._leases.adopt(number)

    def give_up(self, number: int) -> None:
        """Close a running trial as interrupted: it counts for nothing, and is proposed again.

        One that is told in the same moment stays told; nothing happens to a trial that is over.

        Raises:
            HalfwiseError: there is no such trial.
        """
        self._leases.give_up(number)

    def note_ended(self, reason: str | None) -> None:
        """Say to all workers why the search is over; None: it is not."""
        self._parts.turns.study.set_user_attr(_ENDED, reason)

    def ended(self) -> str | None:
        """Why the search is over; None while it is not."""
        return self._parts.turns.study.user_attrs.get(_ENDED)

    def counted(self) -> int:
        """How many trials count for the budget: running ones, and those with an outcome."""
        return sum(len(counted(part.trials())) for part in self._parts.of_trials)

    def in_flight(self) -> int:
        """How many trials run, here and elsewhere."""
        return len(self._leases.running())

    def beliefs(self) -> Beliefs | None:
        """What the trials leave to be believed; None where the advisor holds no beliefs."""
        return self._setup.advisor.beliefs(self._parts.sampled.study)

    def settled(self) -> tuple[Policy, Settled] | None:
        """The policy that no trial can improve on any more, if the advisor knows one."""
        return self._setup.advisor.settled(self._parts.sampled.study)

    def finished(self) -> tuple[Told, ...]:
        """Every finished trial in the order in which they were asked for, interrupted ones included."""
        trials = [trial for part in self._parts.of_trials for trial in latest_trials(part.study)]
        over = (trial for trial in trials if trial.state.is_finished() and is_handed_out(trial))
        return tuple(sorted(map(told_of, over), key=lambda told: told.number))

    def find_told(self, policy: Policy) -> int | None:
        """The first trial that found out what this very policy comes to (equal digest), if there is one.

        A failed trial found out nothing, so it does not count.
        """
        digest = policy.digest
        for told in self.finished():
            if told.digest == digest and told.status != "failed":
                return told.number
        return None

    def _tell(self, number: int, found: Found) -> None:
        held = self._leases.own(number)
        try:
            tell(held.part, held.place, self._leases.owner, found)
        except LeaseLost:
            del self._leases.held[number]
            raise
        del self._leases.held[number]

    def _replace(self, number: int, found: Found) -> None:
        for part in self._parts.of_trials:
            for trial in part.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
                if trial.user_attrs[PROPOSAL]["number"] == number and trial.user_attrs[STATUS] == "trained":
                    keep_longer(part.study, trial.number, found)
                    return
        raise HalfwiseError(f"no trial {number} has trained, so nothing can be told of training it longer")


def stored_terms(storage: BaseStorage, study: str) -> Terms | None:
    """What a study was started with; None where the storage holds no such study."""
    name = part_name(study, SAMPLED)
    if name not in [each.study_name for each in storage.get_all_studies()]:
        return None
    return storage.get_study_user_attrs(storage.get_study_id_from_name(name)).get(_TERMS)


def _keep_terms(study: optuna.Study, setup: Setup, may_change: Collection[str]) -> None:
    stored, now = study.user_attrs.get(_TERMS), setup.terms()
    changes = changes_of(now if stored is None else stored, now)
    if not set(changes) <= set(may_change):
        raise OtherTerms(changes)
    if stored is None or changes:
        study.set_user_attr(_TERMS, now)
