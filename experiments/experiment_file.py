"""The experiment file: what a search is asked to do."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    WrapValidator,
)

from ..evaluators.request import DeviceChoice
from ..policies import LossScaling, LowPrecision, Mode, Policy, RulePrecision, load_policy, parse_policy
from ..policies.document import read_document
from ..policies.errors import InputError
from ..policies.loss_scaling import DynamicLossScaling
from ..search.proposers import PROPOSERS
from ..search.samplers import SAMPLERS
from .speed import SpeedChoice

SCHEMA = "halfwise/experiment/1"

Tie = Literal["auto", "blocks", "none"]
"""Whether repeated blocks share one choice; auto: in networks with many layers."""

Seed = Annotated[int, Field(ge=0, lt=2**31)]
Positive = Annotated[float, Field(gt=0)]


def _known_sampler(name: str) -> str:
    known = (*PROPOSERS, *SAMPLERS)
    if name not in known:
        raise ValueError(f"must be one of {', '.join(known)}; got {name!r}")
    return name


def _size(value: Any, read: Callable[[Any], ByteSize]) -> ByteSize:
    try:
        size = read(value)
    except ValueError:
        size = ByteSize(0)
    if size <= 0:
        raise ValueError(f"must be a size above 0 such as 16GB or 500MB, but got {value!r}")
    return size


Size = Annotated[ByteSize, WrapValidator(_size)]


class Experiment(BaseModel):
    """One search: a workload, a device, a space, a sampler and a budget.

    `workload` is a built-in name or `module:function`, looked for beside the file first. `trials` counts
    every policy that is tried, the built-in levels included. `precisions` are the choices for a layer; None means
    whatever the device computes. `policies` are tried after the levels: under a name, a policy file (its path
    relative to the experiment file) or a policy's text. `speed` is what policies are compared by (see
    speed.py); a policy whose speed is measured trains side by side with float32 for `speed_budget_s` seconds,
    compilation not counted. `max_memory` is the most memory that a policy may need, such as 16GB. `tolerance` is
    relative to float32's quality; None means the noise of float32 from seed to seed, at least 0.5%. `steps`
    overrides the workload's own trial length. `tie` gives repeated blocks
    one choice; auto does so in networks with more than 24 layers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    schema_version: Literal["halfwise/experiment/1"] = Field(default=SCHEMA, alias="schema")
    study: str | None = None
    workload: str
    device: DeviceChoice = "auto"
    trials: PositiveInt = 30
    sampler: Annotated[str, AfterValidator(_known_sampler)] = "ladder"
    seed: Seed = 1
    precisions: Annotated[tuple[RulePrecision, ...], Field(min_length=1)] | None = None
    low_precision: LowPrecision = "float16"
    mode: Mode = "graph"
    loss_scaling: LossScaling = DynamicLossScaling()
    speed: SpeedChoice = "auto"
    speed_budget_s: Positive = 10
    max_memory: Size | None = None
    levels: bool = True
    tie: Tie = "auto"
    policies: dict[str, str] = {}
    tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    steps: PositiveInt | None = None
    trial_time_limit_s: Positive = 600
    trial_memory_limit_gib: Positive = 8


def load_experiment(path: Path, changes: Mapping[str, Any]) -> Experiment:
    """The experiment in a YAML or JSON file, with `changes` from the command line in place of its own fields.

    Raises:
        InputError: no such file, or everything that is wrong with it, a line each with its place.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read the experiment file {path}: {reason}") from error
    experiment = read_document(text, str(path), Experiment, required=("schema",))
    try:
        return Experiment.model_validate(experiment.model_dump(by_alias=True) | dict(changes))
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("_", "-")
        raise InputError(f"--{option}: {first['msg'].removeprefix('Value error, ')}") from error


def named_policies(experiment: Experiment, folder: Path) -> tuple[tuple[str, Policy], ...]:
    """The experiment's own policies by name; paths are relative to `folder`.

    Raises:
        InputError: a policy cannot be read; its own error is quoted.
    """
    return tuple((name, _policy(text, folder)) for name, text in experiment.policies.items())


def _policy(text: str, folder: Path) -> Policy:
    if text.lstrip().startswith("{"):
        return parse_policy(text)
    return load_policy(folder / text)
