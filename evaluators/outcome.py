"""What became of one trial, as a frozen value that travels as JSON."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..policies import Policy
from .finite import Finite
from .speed.comparison import Comparison

Status = Literal["trained", "infeasible", "failed"]
Direction = Literal["maximize", "minimize"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Metric:
    """The name of the quality figure and which way is better."""

    name: str
    direction: Direction


class Place(_Value):
    """Where a trial went non-finite: the first step from which on it stayed so, and the first op in it.

    Op is None where the diagnosis could not tell; with a direction, it told the layer. The layer "" is the network
    itself; an op outside of it, such as one of the loss, has None.
    """

    step: int
    layer: str | None = None
    op: str | None = None
    direction: Literal["forward", "loss", "gradient", "scaling", "update"] | None = None

    def __str__(self) -> str:
        """In a user's words, such as "step 0, op Mul of blocks.0.attention (forward)"."""
        words = f"step {self.step}"
        if self.op is not None:
            words += f", op {self.op} of {self._owner}"
        elif self.direction is not None:
            words += f", in {self._owner}"
        if self.direction is not None:
            words += f" ({self.direction})"
        return words

    @property
    def _owner(self) -> str:
        if self.layer is None:
            return "the training step"
        return self.layer or "the network itself"


class Evidence(_Value):
    """What the compiled training step says of the policy.

    `asked_hash` is short for the asked op table: policies with equal tables are one training step. `summary` is
    for people. `mismatches` are ops that do not compute in what was asked; `idle_entries` are entries of the
    policy's op lists that name no op of the step, so that they change nothing. `partial`: graph mode cannot
    compile the step, so only what layers gave in PyNative mode was seen; the hash is of that table.
    """

    asked_hash: str
    summary: str
    ops_matched: int
    mismatches: tuple[str, ...] = ()
    idle_entries: tuple[str, ...] = ()
    partial: bool = False

    def training_key(self, policy: Policy) -> str:
        """Policies with equal keys train alike: same asked table, same loss scaling, same mode.

        Of partial evidence nothing but the policy itself follows: what layers give does not tell the ops inside.
        """
        if self.partial:
            return f"partial {policy.digest}"
        return f"{self.asked_hash} {policy.mode} {policy.loss_scaling.model_dump_json()}"


class PricedStep(_Value):
    """What a training step would take on a device that need not be there; worked out, never measured.

    Times hold for the asked stage and the workload's batch size; `memory_bytes` is the least that the step
    needs. `assumptions` are what the price takes for granted, in words.
    """

    device: str
    step_time_s: Finite
    throughput_samples_per_s: Finite
    casts: int
    cast_share: Finite
    memory_bytes: int
    assumptions: tuple[str, ...] = ()


class StepTime(_Value):
    """Time of one training step on the trial's device: compilation excluded, after a warm-up, medians."""

    wall_s: Finite
    process_cpu_s: Finite
    steps_timed: int


class Outcome(_Value):
    """What one policy came to in one training, which may have gone on after a first end.

    `status` is "trained" (quality and speed were measured), "infeasible" (it does not train, or needs more memory
    than it may: `cause` says which) or "failed" (it did not run to its end: raised, hung, killed, out of memory).
    Figures that were not reached are None. Loss entries are None at steps where the loss was not finite.

    `left_float32` is the first op that leaves float32's values, looked for where a failure names no op.
    `against_float32` is the speed against a float32 twin, where that was measured, and `float32_samples_per_s`
    what it is a multiple of: the speed of the study's float32 trial. `least_memory_bytes` is what a step needs at
    least, by its price. `quality` is that after the last step; `quality_by_steps` has it at every length at which
    the training stood still. `steps_run` is what the trial cost, diagnosis included: 0 where it shares another's
    outcome. `worker` is who made it, None for the search itself.
    """

    schema_version: Literal["halfwise/outcome/1"] = "halfwise/outcome/1"
    policy: str
    policy_name: str | None = None
    digest: str
    seed: int
    device: str
    mindspore_version: str
    status: Status
    cause: str | None = None
    message: str | None = None
    first_non_finite: Place | None = None
    left_float32: Place | None = None
    metric: str
    direction: Direction
    quality: Finite | None = None
    quality_by_steps: dict[int, Finite] = {}
    steps_run: int = 0
    losses: tuple[Finite | None, ...] = ()
    loss_scales: tuple[Finite, ...] = ()
    updates_applied: int = 0
    updates_skipped: int = 0
    step_time: StepTime | None = None
    throughput_samples_per_s: Finite | None = None
    against_float32: Comparison | None = None
    float32_samples_per_s: Finite | None = None
    compile_time_s: Finite | None = None
    trial_time_s: Finite | None = None
    peak_memory_bytes: int | None = None
    least_memory_bytes: int | None = None
    low_precision_layers: int | None = None
    layers: int | None = None
    evidence: Evidence | None = None
    priced: PricedStep | None = None
    worker: str | None = None
    notes: tuple[str, ...] = ()

    def with_figures_of(self, other: "Outcome") -> "Outcome":
        """What another trial came to, for this outcome's policy: their training steps are one and the same."""
        own = (
            "policy",
            "policy_name",
            "digest",
            "compile_time_s",
            "evidence",
            "priced",
            "least_memory_bytes",
            "layers",
            "low_precision_layers",
            "worker",
        )
        return other.model_copy(update={name: getattr(self, name) for name in own}).shared()

    @property
    def blamed_place(self) -> Place | None:
        """The place to blame a failure on: where it went non-finite, else where it first left float32."""
        place = self.first_non_finite
        return self.left_float32 if place is None or (place.op is None and self.left_float32) else place

    def shared(self) -> "Outcome":
        """The same outcome for a trial that did not train itself: it cost nothing."""
        return self.model_copy(update={"steps_run": 0})

    def going_on_from(self, earlier: "Outcome") -> "Outcome":
        """This outcome of a training that went on, with what the earlier one cost and found.

        Measured speeds stay those of the first length: others were held against them.
        """
        return self.model_copy(
            update={
                "quality_by_steps": {**earlier.quality_by_steps, **self.quality_by_steps},
                "steps_run": earlier.steps_run + self.steps_run,
                "trial_time_s": (earlier.trial_time_s or 0) + (self.trial_time_s or 0),
                "step_time": earlier.step_time,
                "throughput_samples_per_s": earlier.throughput_samples_per_s,
                "against_float32": earlier.against_float32,
                "float32_samples_per_s": earlier.float32_samples_per_s,
                "worker": earlier.worker,
            }
        )

    @property
    def steps(self) -> int:
        """How many steps it was trained for, skipped updates included."""
        return len(self.losses)

    def quality_lost(self, float32: "Outcome", steps: int | None = None) -> float | None:
        """What was lost against float32 of the same seed after as many steps, by default all: positive is worse.

        In the metric's unit, whichever way it runs; None where one of the two has no quality at this length.
        """
        length = self.steps if steps is None else steps
        own, theirs = self.quality_by_steps.get(length), float32.quality_by_steps.get(length)
        if own is None or theirs is None or self.seed != float32.seed:
            return None
        return theirs - own if self.direction == "maximize" else own - theirs
