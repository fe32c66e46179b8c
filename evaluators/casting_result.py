"""What writing casts into a network is asked and gives; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict

from .request import WorkloadRequest

CASTING_JOB = "halfwise.evaluators.casting:cast_workload"


class CastingRequest(WorkloadRequest):
    """Write the casts of `policy` (canonical text) into the workload's network; `title` says whose it is."""

    policy: str
    title: str


class CastingResult(BaseModel):
    """The file, and the functions of the user's that it cannot find again because they stand inside of others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    without_place: tuple[str, ...]
