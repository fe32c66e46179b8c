"""What a survey of a workload finds; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict

from ..policies import CellOutline, Mode, NetworkOutline
from .outcome import Direction
from .request import WorkloadRequest

SURVEY_JOB = "halfwise.evaluators.survey:run_survey"


class SurveyRequest(WorkloadRequest):
    """Look at the workload; `mode` is the one that its policies are for."""

    mode: Mode = "graph"


class SurveyedCell(BaseModel):
    """One Cell of the network, and the ops of its own that compute floats, by the names that policies use.

    `may_compute`: it was seen to give floats where no graph tells the ops in it.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    aliases: tuple[str, ...]
    type_names: tuple[str, ...]
    ops: tuple[str, ...]
    may_compute: bool = False

    @property
    def has_choice(self) -> bool:
        """Whether a policy's choice for it can change anything."""
        return bool(self.ops) or self.may_compute


class Survey(BaseModel):
    """What a search needs to know of a workload.

    `least_memory_bytes` is what a step needs under any policy, by its price; None where it is not known.
    `parameters` counts the numbers that are trained; `parameter_shapes` are those of every Parameter by its name.
    `data_digest` is short for the first batches of seed 0 (see `data_digest.py`).
    """

    model_config = ConfigDict(frozen=True)

    workload: str
    metric: str
    direction: Direction
    batch_size: int
    trial_steps: int
    full_steps: int
    parameters: int
    parameter_shapes: dict[str, tuple[int, ...]] = {}
    mindspore_version: str
    least_memory_bytes: int | None = None
    cells: tuple[SurveyedCell, ...]
    partial: str | None = None
    data_digest: str = ""

    @property
    def outline(self) -> NetworkOutline:
        """The network as policies see it."""
        return NetworkOutline(tuple(CellOutline(c.path, c.aliases, c.type_names) for c in self.cells))

    @property
    def ops(self) -> tuple[str, ...]:
        """Every op of the forward pass whose precision a policy decides, sorted."""
        return tuple(sorted({op for cell in self.cells for op in cell.ops}))

    @property
    def convolves(self) -> bool:
        """Whether any op of the forward pass is a convolution."""
        return any(op.startswith("Conv") for op in self.ops)
