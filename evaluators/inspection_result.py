"""What an inspection is asked and what it finds; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict, PositiveInt

from .outcome import Evidence
from .price.devices import Device
from .price.price import Stage
from .request import WorkloadRequest

INSPECT_JOB = "halfwise.evaluators.inspection:inspect"
OPS_TABLE = "ops.json"


class InspectionRequest(WorkloadRequest):
    """Compile the step under `policy`, and price it on so many `devices` of the row `price_for`.

    `batch_size`, of each device, replaces the workload's own.
    """

    policy: str
    price_for: Device | None = None
    batch_size: PositiveInt | None = None
    devices: PositiveInt = 1


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class BoundaryCost(_Value):
    """A boundary where precision changes: its casts, their share of the step, and what merging saves."""

    producer: str
    consumer: str
    casts: int
    share: float
    saves_s: float


class Pricing(_Value):
    """The price of one step on a device, and its parts; `lines` say it in words.

    `stage` says of which graph: "asked" for any device, "kernel" for the one that was calibrated. Of several
    `devices` each takes `step_time_s` for its own batch, the sum of all gradients in it.
    """

    device: str
    stage: Stage
    batch_size: int
    devices: int
    step_time_s: float
    gradient_sum_s: float
    gradient_bytes_sent: int
    flops_share: dict[str, float]
    casts: int
    cast_share: float
    memory_bytes: int
    by_bytes_only: tuple[str, ...]
    assumptions: tuple[str, ...]
    lines: tuple[str, ...]
    boundaries: tuple[BoundaryCost, ...]


class Inspection(_Value):
    """What the compiled step says of the policy."""

    workload: str
    evidence: Evidence
    pricing: Pricing | None = None
