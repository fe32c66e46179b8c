"""One search: an Optuna study that is asked for policies and told what became of them.

The journal file holds two Optuna studies: "levels" the fixed policies, which have no parameters, and
"search" the sampler's proposals. They are apart because one finished trial without parameters is enough to
make Optuna's samplers see an empty common search space: multivariate TPE would silently fall back to one
parameter at a time, and NSGA-II to random draws.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

import optuna
from optuna.storages import JournalStorage
from optuna.trial import FrozenTrial, Trial, TrialState

from ..policies import Policy
from ..policies.errors import HalfwiseError
from .advisors import Advisor, Suggestion
from .front import Direction, Point
from .journal import journal_errors, open_journal
from .longer import keep_longer, latest_trials
from .propose.beliefs import Beliefs
from .propose.optuna_sampler import BLAMED, CHOICES, QUALITY_LOST
from .settled import Settled
from .setup import Setup, Terms, refuse_changes

Status = Literal["trained", "infeasible", "failed"]

INTERRUPTED = "interrupted: the search ended before this trial did"

# Optuna completes no trial without values, and NSGA-II learns from complete trials only. TPE sorts the
# infeasible out, and NSGA-II ranks them, by the constraint alone: these values decide nothing and stay here.
_STAND_INS = (0.0, 0.0)
_CONSTRAINT = "trains"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A policy to try now; `name` is that of a fixed policy ("O2"), None for a sampler's proposal.

    `choices` are the precisions of its sites by name, where the space has sites.
    """

    number: int
    name: str | None
    policy: Policy
    choices: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Told:
    """A finished trial; `policy` is the canonical text. Figures are None unless it trained.

    `choices` are those of its sites, as in `Proposal`.
    """

    number: int
    name: str | None
    policy: str
    digest: str
    status: Status
    quality: float | None = None
    speed: float | None = None
    cause: str | None = None
    choices: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def interrupted(self) -> bool:
        """Whether the search ended while this trial ran: it is proposed again, and counts for no budget."""
        return self.cause == INTERRUPTED

    @property
    def point(self) -> Point:
        """The trial as the front sees it."""
        feasible = self.status == "trained"
        return Point(self.number, self.name, self.digest, self.quality, self.speed, feasible, self.cause)


class Search:
    """Proposes policies and learns from their outcomes; every call is on disk when it returns.

    One process at a time may have a study open. With one trial in flight, the same seed and the same
    outcomes give the same proposals, whether or not the search was stopped and reopened in between: each
    draw is seeded by the seed and the number of proposals before it; an interrupted one is made again.
    """

    def __init__(self, setup: Setup, levels: optuna.Study, sampled: optuna.Study) -> None:
        """Use `Search.create`."""
        self._setup = setup
        self._levels = levels
        self._sampled = sampled
        self._running: dict[int, tuple[optuna.Study, Trial]] = {}

    @classmethod
    def create(
        cls,
        path: Path,
        advisor: Advisor,
        quality_direction: Direction,
        fixed: Sequence[tuple[str, Policy]],
        judged_by: Terms = MappingProxyType({}),
    ) -> Self:
        """Start a study in a journal file, or go on with the one that the file holds.

        `judged_by` are terms that only the caller knows, in words: what speed is, how much memory is allowed.

        Trials that were running when the process before this one ended become failed ones, marked
        interrupted; one that was just being told is told.

        Raises:
            InputError: the file's study was started with other terms.
            HalfwiseError: the file cannot be read or written.
        """
        setup = Setup(advisor, quality_direction, tuple(fixed), judged_by)
        with journal_errors(path):
            storage = open_journal(path)
            studies = [_open_study(storage, name, quality_direction) for name in ("levels", "search")]
            _keep_terms(studies[1], setup)
            for study in studies:
                for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
                    _settle(study, trial.number, trial.user_attrs)
        return cls(setup, *studies)

    def ask(self) -> Proposal | None:
        """The next policy: the fixed ones in their order, then the advisor's; None when nothing is left to try."""
        tried = {trial.user_attrs.get("name") for trial in _counted(self._levels)}
        for name, policy in self._setup.levels:
            if name not in tried:
                return self._propose(self._levels, name, lambda trial, policy=policy: policy)
        suggestion = self._setup.advisor.suggest(self._sampled, len(_counted(self._sampled)))
        return None if suggestion is None else self._propose(self._sampled, None, suggestion)

    def tell(self, number: int, quality: float, speed: float, quality_lost: float | None = None) -> None:
        """A trial trained to this quality, at this speed (samples per second).

        `quality_lost` is what it lost against float32 on the same seed, where that is known: positive is worse.

        Raises:
            HalfwiseError: the trial is not running, or a figure is not a finite number; the trial then runs
                on, and can be told as infeasible.
        """
        figures = {"quality": _finite(number, "quality", quality), "speed": _finite(number, "speed", speed)}
        if quality_lost is not None:
            figures[QUALITY_LOST] = _finite(number, "quality lost", quality_lost)
        self._close(number, "trained", figures)

    def tell_infeasible(self, number: int, cause: str, blamed: Sequence[str] = ()) -> None:
        """A trial ran, but its policy does not train: the sampler learns to keep away.

        `blamed` are the sites that a diagnosis named, where the space has sites.

        Raises:
            HalfwiseError: the trial is not running.
        """
        self._close(number, "infeasible", {"cause": cause, BLAMED: list(blamed)})

    def tell_failed(self, number: int, cause: str) -> None:
        """A trial did not run to its end, which says nothing about its policy: the sampler learns nothing.

        Raises:
            HalfwiseError: the trial is not running.
        """
        self._close(number, "failed", {"cause": cause})

    def tell_longer(self, number: int, quality: float, quality_lost: float | None = None) -> None:
        """A trial that trained was trained longer, to this quality.

        Optuna's own samplers go on learning from the first length, where all trials can be compared.

        Raises:
            HalfwiseError: there is no such trial that trained, or a figure is not a finite number.
        """
        figures = {"quality": _finite(number, "quality", quality)}
        if quality_lost is not None:
            figures[QUALITY_LOST] = _finite(number, "quality lost", quality_lost)
        self._replace(number, figures)

    def tell_longer_infeasible(self, number: int, cause: str, blamed: Sequence[str] = ()) -> None:
        """A trial that trained turned out not to train any longer.

        Raises:
            HalfwiseError: there is no such trial that trained.
        """
        self._replace(number, {"status": "infeasible", "cause": cause, BLAMED: list(blamed)})

    def beliefs(self) -> Beliefs | None:
        """What the trials leave to be believed; None where the advisor holds no beliefs."""
        return self._setup.advisor.beliefs(self._sampled)

    def settled(self) -> tuple[Policy, Settled] | None:
        """The policy that no trial can improve on any more, if the advisor knows one."""
        return self._setup.advisor.settled(self._sampled)

    def finished(self) -> tuple[Told, ...]:
        """Every finished trial in the order in which they were asked for, interrupted ones included."""
        states = (TrialState.COMPLETE, TrialState.FAIL)
        trials = [t for s in (self._levels, self._sampled) for t in latest_trials(s) if t.state in states]
        # Killed inside `ask`, a trial may lack its policy: nobody was ever handed it.
        return tuple(sorted((_told(t) for t in trials if "policy" in t.user_attrs), key=lambda told: told.number))

    def find_told(self, policy: Policy) -> int | None:
        """The first trial that found out what this very policy comes to (equal digest), if there is one.

        A failed trial found out nothing, so it does not count.
        """
        digest = policy.digest
        for told in self.finished():
            if told.digest == digest and told.status != "failed":
                return told.number
        return None

    def _propose(self, study: optuna.Study, name: str | None, policy_for: Suggestion) -> Proposal:
        trial = study.ask()
        number = sum(len(s.get_trials(deepcopy=False)) for s in (self._levels, self._sampled)) - 1
        policy = policy_for(trial)
        attributes = {"number": number, "name": name, "digest": policy.digest, "policy": str(policy)}
        for key, value in attributes.items():
            trial.set_user_attr(key, value)
        self._running[number] = (study, trial)
        return Proposal(number, name, policy, trial.user_attrs.get(CHOICES, {}))

    def _close(self, number: int, status: Status, found: Mapping[str, float | str | list[str]]) -> None:
        """Store what was found, the status last: from then on the next process can close the trial too."""
        if number not in self._running:
            running = ", ".join(map(str, self._running)) or "none"
            raise HalfwiseError(f"trial {number} is not running, so nothing can be told of it; running: {running}")
        study, trial = self._running[number]
        if status != "failed":
            trial.set_constraint(_CONSTRAINT, 0.0 if status == "trained" else 1.0)
        for key, value in {**found, "status": status}.items():
            trial.set_user_attr(key, value)
        _settle(study, trial.number, trial.user_attrs)
        del self._running[number]

    def _replace(self, number: int, found: Mapping[str, float | str | list[str]]) -> None:
        for study in (self._levels, self._sampled):
            for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
                if trial.user_attrs["number"] == number and trial.user_attrs["status"] == "trained":
                    keep_longer(study, trial.number, found)
                    return
        raise HalfwiseError(f"no trial {number} has trained, so nothing can be told of training it longer")


def _open_study(storage: JournalStorage, name: str, quality_direction: Direction) -> optuna.Study:
    # Optuna announces each study on stderr, which is the progress display's place.
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        # The stock sampler that Optuna would set draws from its own clock; `ask` sets the real one.
        return optuna.create_study(
            storage=storage,
            study_name=name,
            directions=[quality_direction, "maximize"],
            sampler=optuna.samplers.RandomSampler(0),
            load_if_exists=True,
        )
    finally:
        optuna.logging.set_verbosity(verbosity)


def _keep_terms(study: optuna.Study, setup: Setup) -> None:
    stored = study.user_attrs.get("terms")
    if stored is None:
        study.set_user_attr("terms", setup.terms())
    else:
        refuse_changes(stored, setup.terms())


def _settle(study: optuna.Study, trial_number: int, attributes: Mapping[str, Any]) -> None:
    """Close an Optuna trial as its attributes say; one without a status was interrupted, and fails."""
    status = attributes.get("status")
    if status == "trained":
        study.tell(trial_number, (attributes["quality"], attributes["speed"]))
    elif status == "infeasible":
        study.tell(trial_number, _STAND_INS)
    else:
        study.tell(trial_number, state=TrialState.FAIL)


def _counted(study: optuna.Study) -> list[FrozenTrial]:
    """All trials but the interrupted ones."""
    trials = study.get_trials(deepcopy=False)
    return [t for t in trials if t.state != TrialState.FAIL or "status" in t.user_attrs]


def _told(trial: FrozenTrial) -> Told:
    found: dict[str, Any] = trial.user_attrs
    return Told(
        number=found["number"],
        name=found["name"],
        policy=found["policy"],
        digest=found["digest"],
        status=found.get("status", "failed"),
        quality=found.get("quality"),
        speed=found.get("speed"),
        cause=found.get("cause", None if "status" in found else INTERRUPTED),
        choices=found.get(CHOICES, {}),
    )


def _finite(number: int, what: str, value: object) -> float:
    # bool counts as a number in Python, and no outcome is one.
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise HalfwiseError(f"trial {number}: {what} must be a finite number, but got {value!r}")
    return float(value)
