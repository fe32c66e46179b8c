"""What is known of a trial: proposed, running, told, interrupted or withdrawn, as its Optuna trial holds it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from optuna.trial import FrozenTrial, TrialState

from ..policies import Policy, parse_policy
from .front import Point
from .lease import Owner
from .propose.optuna_sampler import CAUSE, CHOICES

Status = Literal["trained", "infeasible", "failed"]

INTERRUPTED = "interrupted: its search or worker ended before this trial did"

# User attributes of a trial. One with a proposal was handed to a worker, one with a status has an outcome.
PROPOSAL, STATUS, OWNER, BEAT = "proposal", "status", "owner", "beat"
# Those of trials that count for nothing, whatever else they hold.
GIVEN_UP, WITHDRAWN = "given_up", "withdrawn"


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
class Busy:
    """Nothing can be proposed now, but perhaps later: so many trials run, here and elsewhere."""

    in_flight: int


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
        """Whether the trial ended with its worker: it is proposed again, and counts for no budget."""
        return self.cause == INTERRUPTED

    @property
    def point(self) -> Point:
        """The trial as the front sees it."""
        feasible = self.status == "trained"
        return Point(self.number, self.name, self.digest, self.quality, self.speed, feasible, self.cause)


def is_handed_out(trial: FrozenTrial) -> bool:
    """Whether a worker was given the trial, and did not have to withdraw it."""
    return PROPOSAL in trial.user_attrs and not _has(trial, WITHDRAWN)


def is_running(trial: FrozenTrial) -> bool:
    """Whether a worker has the trial, or had it and is gone."""
    return trial.state == TrialState.RUNNING and is_handed_out(trial)


def is_interrupted(trial: FrozenTrial) -> bool:
    """Whether it ended without an outcome."""
    return trial.state == TrialState.FAIL and (STATUS not in trial.user_attrs or _has(trial, GIVEN_UP))


def counted(trials: Iterable[FrozenTrial]) -> list[FrozenTrial]:
    """Those that a budget counts: running ones, and those that have an outcome."""
    return [trial for trial in trials if is_handed_out(trial) and not is_interrupted(trial)]


def owner_of(trial: FrozenTrial) -> Owner | None:
    """Who runs it: who adopted it, else who asked for it."""
    known = trial.user_attrs
    return Owner.read(known.get(OWNER) or known[PROPOSAL].get(OWNER))


def proposal_of(trial: FrozenTrial) -> Proposal:
    """What was handed out."""
    known = trial.user_attrs[PROPOSAL]
    policy = parse_policy(known["policy"], f"trial {known['number']} in the study's storage")
    return Proposal(known["number"], known["name"], policy, trial.user_attrs.get(CHOICES, {}))


def told_of(trial: FrozenTrial) -> Told:
    """What became of a trial that is over."""
    found: dict[str, Any] = trial.user_attrs
    known = found[PROPOSAL]
    identity = (known["number"], known["name"], known["policy"], known["digest"])
    choices = found.get(CHOICES, {})
    if is_interrupted(trial):
        return Told(*identity, "failed", cause=INTERRUPTED, choices=choices)
    return Told(
        *identity,
        status=found[STATUS],
        quality=found.get("quality"),
        speed=found.get("speed"),
        cause=found.get(CAUSE),
        choices=choices,
    )


def _has(trial: FrozenTrial, mark: str) -> bool:
    """Whether a failed trial carries a mark; one that was told all the same, just then, was told."""
    return trial.state == TrialState.FAIL and mark in trial.user_attrs
