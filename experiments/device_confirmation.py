"""Policies trained on the device that they are for, against float32 there with the same seeds; both are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..evaluators.evaluator import Evaluator
from ..evaluators.outcome import Finite
from ..evaluators.process import Failure
from ..evaluators.speed.comparison import Comparison
from ..policies import BUILTIN, Policy
from .confirmation import Confirmation, held_against
from .home import StudyFolder
from .long_float32 import LongFloat32, long_float32
from .progress import Display
from .side_by_side import CHOICE_ROUNDS


@dataclass(frozen=True)
class Candidate:
    """A policy to confirm; `name` is what people call it, `trial` the study's trial that it comes from.

    `priced_speedup` is its priced speed over float32's on the device `priced_on`, where a study knows it.
    """

    name: str
    policy: Policy
    trial: int | None = None
    priced_speedup: float | None = None
    priced_on: str | None = None


class ConfirmedPolicy(BaseModel):
    """What one policy came to; `comparison` is None where its speed could not be measured, and `note` says why."""

    model_config = ConfigDict(frozen=True)

    name: str
    policy: str
    digest: str
    trial: int | None = None
    confirmation: Confirmation
    comparison: Comparison | None = None
    priced_speedup: Finite | None = None
    priced_on: str | None = None
    note: str | None = None

    def lines(self, device: str) -> Iterator[str]:
        """In a user's words: quality, then measured speed, then what was priced, each called what it is."""
        yield f"{self.name} on {device}, against float32 with the same seeds:"
        yield f"  {self.confirmation}"
        if self.comparison is not None:
            yield f"  {self.comparison}"
        if self.note is not None:
            yield f"  speed not measured: {self.note}"
        if self.priced_speedup is not None:
            yield f"  {self.priced_speedup:.2f}x float32's speed, priced on {self.priced_on}, not measured"


class DeviceConfirmation(BaseModel):
    """`confirmed-DEVICE.json`: what policies of one workload came to on one device, and float32 beside them."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/confirmed/1"] = "halfwise/confirmed/1"
    workload: str
    metric: str
    device: str
    mindspore_version: str
    float32: LongFloat32
    policies: tuple[ConfirmedPolicy, ...]

    @property
    def holds(self) -> bool:
        """Whether every policy trained with every seed and lost no more than allowed."""
        return all(each.confirmation.holds for each in self.policies)


@dataclass(frozen=True)
class Confirmer:
    """Trains policies `steps` steps with fresh seeds, then measures their speed side by side with float32.

    `folder` keeps float32 of that length and the output of all processes; each policy's speed is measured for
    `speed_budget_s` seconds. `tolerance` is relative to float32's quality.
    """

    evaluator: Evaluator
    folder: Path
    steps: int
    tolerance: float
    speed_budget_s: float

    def confirm(self, candidates: Sequence[Candidate], display: Display) -> DeviceConfirmation:
        """Train float32, then each candidate.

        Raises:
            HalfwiseError: float32 does not train, or a training did not run to its end.
        """
        first, device = candidates[0].policy, self.evaluator.device.target
        self.folder.mkdir(parents=True, exist_ok=True)
        display.note(f"training float32 on {device} with fresh seeds, {self.steps} steps each")
        float32 = BUILTIN["O0"].replace(mode=first.mode, loss_scaling=first.loss_scaling)
        against = long_float32(self.evaluator, float32, StudyFolder(self.folder), self.steps)
        return DeviceConfirmation(
            workload=self.evaluator.survey.workload,
            metric=self.evaluator.survey.metric,
            device=device,
            mindspore_version=self.evaluator.survey.mindspore_version,
            float32=against,
            policies=tuple(self._one(candidate, against, display) for candidate in candidates),
        )

    def _one(self, candidate: Candidate, against: LongFloat32, display: Display) -> ConfirmedPolicy:
        place = self.folder / candidate.policy.digest
        display.note(f"training {candidate.name} likewise")
        found, _ = held_against(candidate.policy, place, self.evaluator, against, self.tolerance)
        known = ConfirmedPolicy(
            name=candidate.name,
            policy=str(candidate.policy),
            digest=candidate.policy.digest,
            trial=candidate.trial,
            confirmation=found,
            priced_speedup=candidate.priced_speedup,
            priced_on=candidate.priced_on,
        )
        if found.failure is not None:
            return known.model_copy(update={"note": "it does not train"})
        display.note(f"measuring {candidate.name} against float32, step by step in turn")
        timed = replace(self.evaluator, float32_losses=())
        speed = timed.compare(candidate.policy, place / "speed", self.speed_budget_s, CHOICE_ROUNDS)
        if isinstance(speed, Failure):
            return known.model_copy(update={"note": f"{speed.cause}: {speed.message}"})
        return known.model_copy(update={"comparison": speed})
