"""What is asked of a process that looks into one training step, and what it saw; free of mindspore."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveFloat

from ...policies.precision import Precision
from ..request import WorkloadRequest

STEP_JOB = "halfwise.evaluators.localize.look:run_step"
REACH_JOB = "halfwise.evaluators.localize.look:run_reach"


class StepRequest(WorkloadRequest):
    """Run the step with batch number `step` of a seed's batches under `policy`, and write down every op's values.

    The weights are those in `state`, or fresh ones from the seed where it is None; no step runs before. Dropout
    lets all through, so that two processes compute the same.
    """

    policy: str
    seed: NonNegativeInt
    step: NonNegativeInt
    loss_scale: PositiveFloat
    state: Path | None = None


class ReachRequest(WorkloadRequest):
    """Train `policy` from a seed for `steps` steps and leave the network's weights in `state`."""

    policy: str
    seed: NonNegativeInt
    steps: NonNegativeInt
    state: Path


class Reached(BaseModel):
    """The loss scale after those steps."""

    model_config = ConfigDict(frozen=True)

    loss_scale: float


class OpKey(BaseModel, frozen=True):
    """An op as it is found again in another graph of the same network.

    `graph_op` is its own name, `op` that of the forward op that it belongs to. `written` is the place in the
    source, `takes` names the Parameters and forward values that a gradient op takes; `number` counts those that
    are alike in all this. The layer "" is the network itself, None stands for what is outside of it.
    """

    layer: str | None
    op: str
    graph_op: str
    direction: Literal["forward", "loss", "gradient"]
    shapes: tuple[tuple[int, ...], ...]
    written: str = ""
    takes: tuple[str, ...] = ()
    number: NonNegativeInt = 0


class OpValues(BaseModel):
    """One op of the step: what it asked to compute in, how many terms it sums, and its tensors on disk.

    `precision` is what it computes in as asked, `output_precision` what it hands on. The files hold what its
    kernel took and gave, in order; kernels of a CPU may be wider than asked. `sources` are the ids of the ops that
    its values come from, through casts. `fed_by` are the nearest ops before it that compute in low precision, by
    layer and forward op.
    """

    model_config = ConfigDict(frozen=True)

    id: int
    key: OpKey
    sources: tuple[int, ...]
    precision: Precision | None
    output_precision: Precision | None
    summed_length: int | None
    fed_by: tuple[tuple[str, str], ...]
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]


class StepValues(BaseModel):
    """Every op whose values could be told apart, in the order in which they ran; `unseen` counts the others."""

    model_config = ConfigDict(frozen=True)

    ops: tuple[OpValues, ...]
    unseen: int
