"""What the two sides of a speed measurement are asked; free of mindspore, for the asking process."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveFloat

from ..request import WorkloadRequest


class TwinRequest(WorkloadRequest):
    """Measure `policy` against float32 for at most `budget_s` seconds; `meeting` holds the two named pipes."""

    policy: str
    seed: NonNegativeInt
    budget_s: PositiveFloat
    meeting: Path


class Done(BaseModel):
    """How many blocks the float32 side ran."""

    model_config = ConfigDict(frozen=True)

    blocks: int
