"""A precision list that is changed by one entry at a time, trained after each, until it breaks or is cured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...evaluators.evaluator import Evaluator
from ...evaluators.json_file import read_json, write_json
from ...evaluators.outcome import Finite, Outcome
from ...policies import Policy, Precision, save_policy
from ...policies.errors import HalfwiseError
from ..confirmation import quality_lost
from ..progress import Display
from .entries import Entry

Towards = Literal["float32", "low"]
_OUTCOME = "outcome.json"


class Step(BaseModel):
    """The list after one more entry, None before the first; `quality_lost` is None where it did not train.

    `quality` and what was lost are in the metric's unit, `speedup` over float32 is a price. `holds`: it trained
    and lost no more than is allowed.
    """

    model_config = ConfigDict(frozen=True)

    number: int
    entry: str | None
    harm: Finite | None
    policy: str
    status: str
    cause: str | None
    quality: Finite | None
    quality_lost: Finite | None
    speedup: Finite | None
    holds: bool

    def __str__(self) -> str:
        """One line for people."""
        what = "the list as it starts" if self.entry is None else self.entry
        lost = (
            f"lost {self.quality_lost:.2g}" if self.quality_lost is not None else f"does not train: {self.cause}"
        )
        speed = "" if self.speedup is None else f", {self.speedup:.2f}x (priced)"
        return f"{self.number:3d} {what}: {lost}{speed}: {'holds' if self.holds else 'does not hold'}"


@dataclass(frozen=True)
class Widening:
    """Trains lists as one trial each; a list that was trained before, here or under another entry, is not again.

    `float32` is what each is held against, `allowed` what may be lost; `folder` keeps every step.
    """

    evaluator: Evaluator
    float32: Outcome
    float32_s: float | None
    allowed: float
    folder: Path

    def steps(self, start: Policy, order: Sequence[Entry], target: Precision, display: Display) -> Iterator[Step]:
        """The list as it starts, then with one more entry each.

        Towards float32 they end with the first that holds, towards low precision with the first that does not.

        Raises:
            HalfwiseError: a training did not run to its end, which says nothing of the list.
        """
        policy, trained = start, dict[str, Outcome]()
        until = target == "float32"
        for number, entry in enumerate((None, *order)):
            changed = policy if entry is None else entry.applied(policy, target)
            policy = changed
            step = self._step(number, entry, policy, trained)
            display.note(str(step))
            yield step
            if step.holds == until:
                return

    def _step(self, number: int, entry: Entry | None, policy: Policy, trained: dict[str, Outcome]) -> Step:
        outcome = self._outcome(policy, self.folder / "steps" / f"{number:03d}", trained)
        quality = outcome.quality if outcome.status == "trained" else None
        lost = quality_lost(quality, self.float32.quality or 0.0, outcome.direction)
        speedup = outcome.priced and self.float32_s and self.float32_s / outcome.priced.step_time_s
        return Step(
            number=number,
            entry=entry and entry.pattern,
            harm=entry and entry.harm,
            policy=str(policy),
            status=outcome.status,
            cause=outcome.cause,
            quality=quality,
            quality_lost=lost,
            speedup=speedup,
            holds=lost is not None and lost <= self.allowed,
        )

    def _outcome(self, policy: Policy, place: Path, trained: dict[str, Outcome]) -> Outcome:
        kept = place / _OUTCOME
        if kept.exists() and (found := read_json(Outcome, kept)).digest == policy.digest:
            outcome = found
        else:
            outcome = self.evaluator.evaluate(policy, None, place, trained)
            if outcome.status == "failed":
                raise HalfwiseError(f"a training did not run to its end: {outcome.cause}: {outcome.message}")
            save_policy(policy, place / "policy.yaml")
            write_json(outcome, kept)
        if outcome.evidence is not None:
            trained.setdefault(outcome.evidence.training_key(policy), outcome)
        return outcome


def last_that_holds(steps: Sequence[Step]) -> Step | None:
    """The fastest of the lists that hold, which is the last of them in either direction; None if none does."""
    return next((step for step in reversed(steps) if step.holds), None)


def rows(steps: Sequence[Step]) -> list[Mapping[str, object]]:
    """The steps as a table: one row each."""
    return [step.model_dump() for step in steps]
