"""What a survey of a workload finds; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict

from .outcome import Direction

SURVEY_JOB = "halfwise.evaluators.survey:run_survey"


class SurveyedCell(BaseModel):
    """One Cell of the network, as `policies.outline.CellOutline` has it."""

    model_config = ConfigDict(frozen=True)

    path: str
    aliases: tuple[str, ...]
    type_names: tuple[str, ...]


class Survey(BaseModel):
    """What a search needs to know of a workload; `ops` are MindSpore's names of the forward graph's ops."""

    model_config = ConfigDict(frozen=True)

    workload: str
    metric: str
    direction: Direction
    batch_size: int
    trial_steps: int
    full_steps: int
    parameters: int
    mindspore_version: str
    cells: tuple[SurveyedCell, ...]
    ops: tuple[str, ...]

    @property
    def convolves(self) -> bool:
        """Whether any op of the forward graph is a convolution."""
        return any(op.startswith("Conv") for op in self.ops)
