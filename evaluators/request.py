"""What a trial process is asked to do, as frozen values."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveFloat, PositiveInt

from .outcome import Place

Target = Literal["CPU", "GPU", "Ascend"]
DeviceChoice = Literal["auto", "CPU", "GPU", "Ascend"]


class Request(BaseModel):
    """One job for one process; what it leaves behind goes into `folder`, an absolute path.

    `target` is MindSpore's name of the device; `environment` is set in the process before its first op.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    target: Target
    environment: dict[str, str] = {}


class ProbeRequest(Request):
    """Find out what the device computes; `precision` is the one to try."""

    precision: Literal["float16", "bfloat16"] = "float16"


class WorkloadRequest(Request):
    """A job on a workload: a reference `module:function`, looked for in `search_path` first."""

    workload: str
    search_path: Path


class TrialRequest(WorkloadRequest):
    """Train `policy` (canonical text) for `steps` steps from `seed` and measure it."""

    policy: str
    seed: NonNegativeInt
    steps: PositiveInt
    notes: tuple[str, ...] = ()


class DiagnosisRequest(WorkloadRequest):
    """Repeat the step at `place` of a trial from the weights saved in `folder`, and find the first bad op."""

    policy: str
    seed: NonNegativeInt
    loss_scale: PositiveFloat
    place: Place
