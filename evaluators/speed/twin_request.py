"""What the two sides of a speed measurement are asked; free of mindspore, for the asking process."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveFloat, PositiveInt

from ..request import WorkloadRequest


class SpeedRequest(WorkloadRequest):
    """Measure `policy` against float32 in `rounds` pairs of fresh processes, `budget_s` seconds in all of them."""

    policy: str
    seed: NonNegativeInt
    budget_s: PositiveFloat
    rounds: PositiveInt


class TwinRequest(SpeedRequest):
    """What one of the two sides of a round is told: `meeting` holds the named pipes that they talk through."""

    round: NonNegativeInt
    meeting: Path

    @property
    def policy_leads(self) -> bool:
        """In every other round float32 leads: whatever it is worth to lead cancels out over the rounds."""
        return self.round % 2 == 0


class Done(BaseModel):
    """How many blocks the float32 side ran."""

    model_config = ConfigDict(frozen=True)

    blocks: int
