"""What a trial process is asked to do, as frozen values."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveFloat, PositiveInt

from ..policies.text import parse_policy
from .device_names import Target
from .memory_bound import MemoryBound
from .outcome import Metric, Outcome, Place
from .price.devices import Device

# Where a trial leaves the weights of a step that went wrong, for the diagnosis.
STATE_FILE = "state-at-failure.ckpt"

# Where a trial leaves all that it takes to train on.
END_FILE = "state-at-end.npz"

# The op table of a trial's compiled step.
OPS_FILE = "ops.csv.gz"

# Causes that the caller's process acts upon.
NOT_APPLIED = "not applied"
NEVER_MOVED = "loss never moved"
SAME_TRAINING = "same training as an earlier trial"


class Request(BaseModel):
    """One job for one process; what it leaves behind goes into `folder`, an absolute path.

    `target` is MindSpore's name of the device, `device_id` which of several it is, None for the first;
    `environment` is set in the process before its first op.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    target: Target
    device_id: NonNegativeInt | None = None
    environment: dict[str, str] = {}


class ProbeRequest(Request):
    """Find out what the device computes; `precision` is the one to try."""

    precision: Literal["float16", "bfloat16"] = "float16"


class WorkloadRequest(Request):
    """A job on a workload: a reference `module:function`, looked for in `search_path` first."""

    workload: str
    search_path: Path


class TrialRequest(WorkloadRequest):
    """Train `policy` (canonical text) for `steps` steps from `seed` and measure it.

    `trained` holds the keys of trainings whose outcome is known: such a policy is not trained again.
    `price_for` is the device that the step is priced on, if any; a policy that needs more memory than
    `memory_bound` allows is not trained. `float32_losses` are the curves that its loss must stay near (see
    `LossBand`). With `keep_state` the folder holds afterwards what it takes to train on; `goes_on_from` is what
    the trial that left such a state in the folder came to: it trains on to `steps` in all.
    """

    policy: str
    policy_name: str | None = None
    seed: NonNegativeInt
    steps: PositiveInt
    notes: tuple[str, ...] = ()
    trained: frozenset[str] = frozenset()
    price_for: Device | None = None
    memory_bound: MemoryBound | None = None
    float32_losses: tuple[tuple[float, ...], ...] = ()
    keep_state: bool = False
    goes_on_from: Outcome | None = None

    def identity(self, metric: Metric, mindspore_version: str) -> dict[str, Any]:
        """The fields of an outcome that say which trial it belongs to."""
        return {
            "policy": self.policy,
            "policy_name": self.policy_name,
            "digest": parse_policy(self.policy).digest,
            "seed": self.seed,
            "device": self.target,
            "mindspore_version": mindspore_version,
            "metric": metric.name,
            "direction": metric.direction,
            "notes": self.notes,
        }


class DiagnosisRequest(WorkloadRequest):
    """Repeat the trial's last step, number `step`, from the weights in `state`, and find the first bad op.

    `place` holds the first bad step; no update was applied from there on, so the weights are the same.
    """

    policy: str
    seed: NonNegativeInt
    state: Path
    step: NonNegativeInt
    loss_scale: PositiveFloat
    place: Place
