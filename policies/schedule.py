"""Policies that follow each other during training: so many steps under one, then the next."""

import hashlib
import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from .builtin import BUILTIN
from .canonical import canonical_text
from .document import read_document
from .near_miss import hint
from .plain_file import read_text
from .policy import Policy
from .violations import Violation, fail

SCHEMA = "halfwise/schedule/1"


def _by_name(value: object) -> object:
    """A built-in policy's name to that policy; what holds a policy stays as it is."""
    if isinstance(value, Policy | Mapping):
        return cast("object", value)
    name = str(value)
    if name not in BUILTIN:
        known = ", ".join(BUILTIN)
        raise ValueError(f"must be a policy or one of {known}; got {name!r}{hint(name, BUILTIN)}")
    return BUILTIN[name]


class Phase(BaseModel):
    """A policy, and for how many training steps it holds; None is to the end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy: Annotated[Policy, BeforeValidator(_by_name)]
    steps: Annotated[int, Field(ge=1)] | None = None


def _at_least_one(phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    if not phases:
        raise ValueError("must hold at least one phase")
    return phases


class PolicySchedule(BaseModel):
    """Phases in order, the last one to the end of training.

    Steps are counted from 0, skipped ones too. All phases have one mode: a process changes its mode for all its
    networks. The loss scaling goes on from phase to phase as long as they ask for the same, and starts anew where
    they don't. Constructing one with wrong values raises pydantic's ValidationError; `load_schedule` turns that
    into an InputError with places.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["halfwise/schedule/1"] = Field(default=SCHEMA, alias="schema")
    phases: Annotated[tuple[Phase, ...], AfterValidator(_at_least_one)]

    @classmethod
    def always(cls, policy: Policy) -> Self:
        """One policy from the first step to the last."""
        return cls(phases=(Phase(policy=policy),))

    @model_validator(mode="after")
    def _only_the_last_has_no_end(self) -> Self:
        last = len(self.phases) - 1
        fail(
            Violation(("phases", place), "steps is required: only the last phase has no end", phase.steps)
            for place, phase in enumerate(self.phases)
            if phase.steps is None and place < last
        )
        fail(
            Violation(("phases", last, "steps"), "the last phase must not end; leave its steps out", phase.steps)
            for phase in self.phases[-1:]
            if phase.steps is not None
        )
        return self

    @model_validator(mode="after")
    def _one_mode(self) -> Self:
        first = self.phases[0].policy.mode
        fail(
            Violation(
                ("phases", place, "policy"),
                f"all phases must have one mode: the first has {first}",
                phase.policy.mode,
            )
            for place, phase in enumerate(self.phases)
            if phase.policy.mode != first
        )
        return self

    def __str__(self) -> str:
        """The canonical text: one line of JSON without defaults."""
        return canonical_text({"schema": SCHEMA, "phases": [_written(phase) for phase in self.phases]})

    def __eq__(self, other: object) -> bool:
        """Equal schedules have equal texts."""
        return str(self) == str(other) if isinstance(other, PolicySchedule) else NotImplemented

    def __hash__(self) -> int:
        """Equal schedules have equal hashes."""
        return hash(str(self))

    @property
    def digest(self) -> str:
        """12 hexadecimal digits over what is asked and for how long; where policies come from does not count."""
        asked = [(phase.steps, phase.policy.digest) for phase in self.phases]
        return hashlib.sha256(repr(asked).encode()).hexdigest()[:12]

    def number_at(self, step: int) -> int:
        """Which phase the training step belongs to; both are counted from 0."""
        end = 0
        for number, phase in enumerate(self.phases):
            end += phase.steps or 0
            if phase.steps is None or step < end:
                return number
        return len(self.phases) - 1

    def policy_at(self, step: int) -> Policy:
        """The policy of the training step."""
        return self.phases[self.number_at(step)].policy


def load_schedule(path: str | os.PathLike[str]) -> PolicySchedule:
    """The schedule in a YAML or JSON file; a phase's policy is a mapping, or the name of a built-in one.

    Raises:
        InputError: no such file, not UTF-8, larger than 1 MiB, or not a schedule (every problem with
            file:line:column).
    """
    return read_document(read_text(path), str(path), PolicySchedule, required=("schema",))


def _written(phase: Phase) -> dict[str, Any]:
    policy = phase.policy.model_dump(exclude_defaults=True)
    if "loss_scaling" in policy:
        policy["loss_scaling"] = {"kind": phase.policy.loss_scaling.kind} | policy["loss_scaling"]
    return {"policy": policy} if phase.steps is None else {"steps": phase.steps, "policy": policy}
