"""Several trials for one process, and what becomes of them; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict

from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.request import Request, TrialRequest

SHIFT_JOB = "benchmarks.search.tables.shift:train_shift"


class ShiftRequest(Request):
    """Trials to run one after the other; the folder of each lies in the shift's own."""

    trials: tuple[TrialRequest, ...]


class Outcomes(BaseModel):
    """What became of the trials, in their order."""

    model_config = ConfigDict(frozen=True)

    outcomes: tuple[Outcome, ...]
