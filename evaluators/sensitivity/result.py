"""What a sensitivity run is asked and what it finds; free of mindspore, for the asking process."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from ...policies import DynamicLossScaling, LossScaling, LowPrecision
from ...policies.rules import GroupStatistics, believe
from ..request import WorkloadRequest

SENSITIVITY_JOB = "halfwise.evaluators.sensitivity.job:run_sensitivity"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GroupPaths(_Value):
    """A group by its name and the paths of its layers, "" for the network itself; no op belongs to two groups.

    With `op`, it is just that op of these layers, by the name that policies use.
    """

    name: str
    paths: tuple[str, ...]
    op: str | None = None

    @property
    def covers(self) -> tuple[str, ...]:
        """The left sides of the policy rules that name it."""
        if self.op is not None:
            return tuple(f"{path}::{self.op}" for path in self.paths)
        return tuple(path or "." for path in self.paths)


class SensitivityRequest(WorkloadRequest):
    """Train `steps` steps in float32 from `seed`, then one step with each group alone in each precision.

    `precisions` are those that the device computes. No pass alone begins more than `alone_time_s` after the first.
    """

    seed: NonNegativeInt
    steps: PositiveInt
    groups: tuple[GroupPaths, ...]
    precisions: tuple[LowPrecision, ...]
    loss_scaling: LossScaling = DynamicLossScaling()
    alone_time_s: PositiveFloat = 600


class Sensitivity(_Value):
    """What each group's ops held, and what its passes alone moved.

    `parts` are the single ops of groups that took harm or could, named `group::Op`; their patterns fit policy
    rules. `collected_steps` are the steps whose values were read. `loss_scale` is what scaled shares speak of.
    `steps_run` counts the steps of the float32 run and every pass alone as one; `notes` say what is missing.
    """

    workload: str
    device: str
    seed: int
    collected_steps: tuple[int, ...]
    loss_scale: float
    groups: tuple[GroupStatistics, ...]
    parts: tuple[GroupStatistics, ...]
    steps_run: int
    float32_time_s: NonNegativeFloat
    alone_time_s: NonNegativeFloat
    notes: tuple[str, ...] = ()

    def chances(self, precisions: Iterable[LowPrecision]) -> dict[tuple[str, LowPrecision], float]:
        """The probability of harm of each group in each precision."""
        return {(group.name, p): believe(group, p).probability for p in precisions for group in self.groups}

    def parts_of(self, group: str) -> tuple[GroupStatistics, ...]:
        """The single ops of a group, as far as they were looked at."""
        return tuple(part for part in self.parts if part.name.rpartition("::")[0] == group)
