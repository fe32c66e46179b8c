"""What the two sides of a speed measurement are asked; free of mindspore, for the asking process."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveFloat

from ..request import WorkloadRequest


class SpeedRequest(WorkloadRequest):
    """Measure `policy` against float32 for at most `budget_s` seconds."""

    policy: str
    seed: NonNegativeInt
    budget_s: PositiveFloat


class TwinRequest(SpeedRequest):
    """What one of the two sides is told: `meeting` holds the named pipes that they talk through."""

    meeting: Path


class Done(BaseModel):
    """How many blocks the float32 side ran."""

    model_config = ConfigDict(frozen=True)

    blocks: int
