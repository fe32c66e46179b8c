"""The experiment file: what a search is asked to do."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
    ValidationInfo,
    WrapValidator,
)

from ..evaluators.device_names import DeviceChoice
from ..policies import LossScaling, LowPrecision, Mode, Policy, RulePrecision, load_policy, parse_policy
from ..policies.document import read_document
from ..policies.errors import InputError
from ..policies.loss_scaling import DynamicLossScaling
from ..policies.plain_file import read_text
from ..search.proposers import PROPOSERS
from ..search.samplers import SAMPLERS
from .duration import Duration
from .speed import SpeedChoice

SCHEMA = "halfwise/experiment/1"

MOST_RUNGS = 6
_LONGEST_NAME = 100

Tie = Literal["auto", "blocks", "none"]
"""Whether repeated blocks share one choice; auto: in networks with many layers."""

Confirm = Literal["front", "choice", "none"]
"""What is trained again with fresh seeds and for longer: the chosen policy and then the front, it, or nothing."""

Seed = Annotated[int, Field(ge=0, lt=2**31)]
Count = Annotated[int, Field(ge=1, lt=2**31)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _rungs(value: Any) -> Any:
    # Files hand over texts.
    if str(value) not in ("auto", *map(str, range(1, MOST_RUNGS + 1))):
        raise ValueError(f"must be auto or a whole number from 1 to {MOST_RUNGS}, but got {value!r}")
    return value


Rungs = Annotated[int | Literal["auto"], BeforeValidator(_rungs)]
"""How many lengths of training there are; auto: as many as a short search can afford."""


def _policy_name(name: str) -> str:
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ValueError(f"a policy's name is 1 to {_LONGEST_NAME} printable characters, but got {name[:50]!r}")
    return name


PolicyName = Annotated[str, AfterValidator(_policy_name)]
"""What lists, tables and pictures call a policy."""


def _known_sampler(name: str) -> str:
    known = (*PROPOSERS, *SAMPLERS)
    if name not in known:
        raise ValueError(f"must be one of {', '.join(known)}; got {name!r}")
    return name


def _for_the_ladder(study: str | None, known: ValidationInfo) -> str | None:
    sampler = known.data.get("sampler", "ladder")
    if study is not None and sampler != "ladder":
        raise ValueError(f"must be left out with sampler {sampler}: only the ladder learns from an earlier study")
    return study


def _apart(devices: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(devices)) < len(devices):
        raise ValueError(f"must name each device once, but got {', '.join(map(str, devices))}")
    return devices


def _size(value: Any, read: Callable[[Any], ByteSize]) -> ByteSize:
    try:
        size = read(value)
    except (ValueError, OverflowError):
        size = ByteSize(0)
    if not 0 < size < 2**63:
        raise ValueError(f"must be a size above 0 such as 16GB or 500MB, but got {value!r}")
    return size


Size = Annotated[ByteSize, WrapValidator(_size)]


class Experiment(BaseModel):
    """One search: a workload, a device, a space, a sampler and a budget.

    `workload` is a built-in name or `module:function`, looked for beside the file first. `trials` counts every
    policy that is tried, the built-in levels included. `time_limit` (such as 2h) bounds the wall time, and
    `full_runs` the training steps of every kind, in whole trainings of the workload. Of the searchers that hold
    beliefs, one ends after `patience` trials in a row that changed nothing; null: never. `rungs` is how many
    lengths of training there are: the best third of each goes on to the next, three times as long. `precisions`
    are the choices for a layer; None means whatever the device computes. `other_loss_scalings` are cheaper ones
    that a searcher over sites may choose instead of `loss_scaling`. `policies` are tried after the levels: under a
    name, a policy file (its path relative to the experiment file) or a policy's text. `speed` is what policies are
    compared by (see speed.py); a policy whose speed is measured trains side by side with float32 for
    `speed_budget_s` seconds, compilation not counted. `max_memory` is the most memory that a policy may need, such
    as 16GB. `tolerance` is relative to float32's quality; None means the noise of float32 from seed to seed, at
    least 0.5%. `steps` overrides the workload's own trial length; `confirm` is what is trained again in the end,
    with fresh seeds and for longer. `tie` gives repeated blocks one choice; auto does so in networks with more
    than 24 layers. `warm_start` is an earlier study in the same home, whose trials the ladder starts from. After
    `max_failures` trials in a row that did not run to their end the search stops. `storage` is the URL of a
    database, None for a journal in the study's folder; `workers` make trials side by side, on `devices` by their
    numbers if these are named.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    schema_version: Literal["halfwise/experiment/1"] = Field(default=SCHEMA, alias="schema")
    study: str | None = None
    workload: str
    device: DeviceChoice = "auto"
    trials: Count = 30
    time_limit: Duration | None = None
    full_runs: Positive | None = None
    patience: Count | None = 10
    rungs: Rungs = "auto"
    sampler: Annotated[str, AfterValidator(_known_sampler)] = "ladder"
    seed: Seed = 1
    precisions: Annotated[tuple[RulePrecision, ...], Field(min_length=1)] | None = None
    low_precision: LowPrecision = "float16"
    mode: Mode = "graph"
    loss_scaling: LossScaling = DynamicLossScaling()
    other_loss_scalings: tuple[LossScaling, ...] = ()
    speed: SpeedChoice = "auto"
    speed_budget_s: Positive = 10
    max_memory: Size | None = None
    levels: bool = True
    tie: Tie = "auto"
    policies: dict[PolicyName, str] = {}
    warm_start: Annotated[str | None, AfterValidator(_for_the_ladder)] = None
    tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    steps: Count | None = None
    confirm: Confirm = "front"
    trial_time_limit_s: Positive = 600
    trial_memory_limit_gib: Positive = 8
    max_failures: Count = 5
    storage: str | None = None
    workers: Count | None = None
    devices: Annotated[tuple[NonNegativeInt, ...], AfterValidator(_apart), Field(min_length=1)] | None = None


WHERE_AND_WHO = ("storage", "workers", "devices")
"""Fields that say nothing of the trials themselves."""


def load_experiment(path: Path, changes: Mapping[str, Any]) -> Experiment:
    """The experiment in a YAML or JSON file, with `changes` from the command line in place of its own fields.

    Raises:
        InputError: no such file, or everything that is wrong with it, a line each with its place.
    """
    experiment = read_document(read_text(path), str(path), Experiment, required=("schema",))
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
