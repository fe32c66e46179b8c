"""What a guarded training has to remember from step to step: plain values that a checkpoint keeps."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from ...policies.precision import Precision
from .settings import Guard

_SHOWN = 3

ChangeKind = Literal["phase", "raised", "taken back", "kept"]
"""What happened: a phase began; a layer was raised; a raise was taken back; the policy was kept all the same."""


class Raise(BaseModel):
    """Layers that compute in no less than a precision."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    layers: tuple[str, ...]
    precision: Precision

    def __str__(self) -> str:
        """As the log shows it; of many layers the first ones."""
        shown = ", ".join(layer or "the network itself" for layer in self.layers[:_SHOWN])
        left = len(self.layers) - _SHOWN
        return f"{shown} and {left} more layers" if left > 0 else shown


class Change(BaseModel):
    """A line of the log.

    `step` is the training step, counted from 0, before which the policy changed. `good_step` is how many steps the
    weights had behind them that training went on from, None where they were not touched.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    step: NonNegativeInt
    kind: ChangeKind
    what: str
    why: str
    layers: tuple[str, ...] = ()
    good_step: NonNegativeInt | None = None

    def __str__(self) -> str:
        """One line."""
        weights = "" if self.good_step is None else f"; goes on from the weights after {self.good_step} steps"
        return f"step {self.step}: {self.what} ({self.why}){weights}"


class Record(BaseModel):
    """Steps done, what was raised and is raised still, and the log; every change of it is a new record.

    `taken_back` holds each raise as often as it was taken back. `skipped_at` are the skipped steps of the guard's
    window, `quiet_since` is the step of the last change.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: NonNegativeInt = 0
    raises: tuple[Raise, ...] = ()
    taken_back: tuple[Raise, ...] = ()
    skipped_at: tuple[NonNegativeInt, ...] = ()
    quiet_since: NonNegativeInt = 0
    log: tuple[Change, ...] = ()

    @property
    def floors(self) -> Mapping[str, Precision]:
        """The least precision of each raised layer: later raises of a layer are safer."""
        return {layer: each.precision for each in self.raises for layer in each.layers}

    def noted(self, change: Change) -> Self:
        """With a change in the log."""
        return self.model_copy(update={"log": (*self.log, change)})

    def counted(self, guard: Guard | None = None, skipped: bool = False) -> Self:
        """With one more step; skips are remembered for a guard only."""
        if guard is None:
            return self.model_copy(update={"steps": self.steps + 1})
        recent = tuple(step for step in self.skipped_at if step > self.steps - guard.window)
        skips = (*recent, self.steps) if skipped else recent
        return self.model_copy(update={"steps": self.steps + 1, "skipped_at": skips})

    def passes(self, guard: Guard) -> int | None:
        """How many steps of the window were skipped if the step at hand is skipped too; None within the bound."""
        skips = 1 + sum(step > self.steps - guard.window for step in self.skipped_at)
        return skips if skips > guard.most_skips else None

    def with_raise(self, one: Raise) -> Self:
        """With a raise; skips so far were those of the policy before."""
        update = {"raises": (*self.raises, one), "skipped_at": (), "quiet_since": self.steps}
        return self.model_copy(update=update)

    def due_back(self, guard: Guard) -> Raise | None:
        """The last raise, if it has been quiet for long enough: each time that it had to return doubles that."""
        if not self.raises or guard.quiet_steps is None:
            return None
        last = self.raises[-1]
        quiet = guard.quiet_steps * 2 ** self.taken_back.count(last)
        return last if self.steps - self.quiet_since >= quiet else None

    def without_last(self) -> Self:
        """With the last raise taken back."""
        update = {
            "raises": self.raises[:-1],
            "taken_back": (*self.taken_back, self.raises[-1]),
            "quiet_since": self.steps,
        }
        return self.model_copy(update=update)
