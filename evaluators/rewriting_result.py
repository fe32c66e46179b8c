"""What a rewriting is asked and what it finds; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict

from ..policies import Mode
from .request import WorkloadRequest

REWRITE_JOB = "halfwise.evaluators.rewriting:rewrite_workload"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AskedRule(_Value):
    """A rule by name; for those that go behind layers, the layer type of `mindspore.nn`, for clips the limit."""

    name: str
    limit: float | None = None
    layer: str | None = None


class RewritingRequest(WorkloadRequest):
    """Rewrite the workload's network by `rules` and compare the two on one of its batches, in `mode`."""

    rules: tuple[AskedRule, ...]
    mode: Mode


class ChangedLayers(_Value):
    """One match that a rule changed, as `policies.rewrite.patterns.Change`."""

    rule: str
    layers: tuple[str, ...]
    made: str
    where: str


class LeftLayer(_Value):
    """A layer that a rule left, as `policies.rewrite.patterns.Left`."""

    rule: str
    layer: str
    where: str
    reason: str
    matched: bool


class RewritingResult(_Value):
    """The report, the measured difference of the outputs (None where nothing changed), the new constructs."""

    workload: str
    matched: int
    changed: tuple[ChangedLayers, ...]
    left: tuple[LeftLayer, ...]
    largest_difference: float | None
    tolerance: float | None
    source: str
