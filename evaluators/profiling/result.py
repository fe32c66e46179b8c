"""What a profile is asked and what it comes to; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict, PositiveInt

from ..device_names import Target
from ..finite import Finite
from ..outcome import Evidence
from ..price.devices import Device
from ..request import WorkloadRequest

PROFILE_JOB = "halfwise.evaluators.profiling.job:profile"

CASTS, NO_FLOATS = "casts", "no floats"
"""Beside the precisions: what changes a float's precision, and what handles no float."""


class ProfileRequest(WorkloadRequest):
    """Train `steps` steps under `policy` (canonical text) with the profiler on; `price_for` is priced beside."""

    policy: str
    steps: PositiveInt
    price_for: Device


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class PartOfStep(_Value):
    """Seconds of one step that went into one precision, into casts, or into what handles no float.

    `measured_s` is what this device's kernels took, `priced_s` what the ops that the policy asks for would take on
    the priced device.
    """

    part: str
    measured_s: Finite
    priced_s: Finite


class Float32Op(_Value):
    """An op of the network whose kernel computed in float32; seconds of one step.

    `priced_s` is None where the policy asks for another precision of it than the kernel had.
    """

    op: str
    layer: str
    direction: str
    measured_s: Finite
    priced_s: Finite | None


class Profile(_Value):
    """Where a training step's time goes; all seconds are of one step.

    `step_s` is the median wall time with the profiler on. `kernels_s` is the sum over all kernels, which can be
    more, as several run at the same time; of it `untold_s` belong to none that the compiled graph holds. `skipped`
    of the `steps` overflowed and updated nothing. `float32_ops` are those that took longest, longest first.
    """

    workload: str
    target: Target
    steps: int
    skipped: int
    step_s: Finite
    kernels_s: Finite
    untold_s: Finite
    parts: tuple[PartOfStep, ...]
    float32_ops: tuple[Float32Op, ...]
    priced_for: str
    priced_step_s: Finite
    evidence: Evidence
