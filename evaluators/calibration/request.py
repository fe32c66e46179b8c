"""What the jobs of a calibration are asked and what they find; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict, PositiveFloat

from ..request import Request, WorkloadRequest

CATALOGUE_JOB = "halfwise.evaluators.calibration.jobs:compile_catalogue"
WORKLOAD_JOB = "halfwise.evaluators.calibration.jobs:compile_workload"
TIMING_JOB = "halfwise.evaluators.calibration.jobs:time_kernels"


class CatalogueRequest(Request):
    """Compile these kernels, as signatures, and see which of them the device has."""

    kernels: tuple[str, ...]


class WorkloadKernelsRequest(WorkloadRequest):
    """Compile the workload's step under the policy, and list its kernels."""

    policy: str


class TimingRequest(Request):
    """Time these kernels, in this order, until the budget is spent."""

    kernels: tuple[str, ...]
    budget_s: PositiveFloat


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class FoundKernels(_Value):
    """Kernels that this device runs, by signature, with the work of each (FLOPs or bytes)."""

    works: dict[str, float]


class TimedKernels(_Value):
    """Seconds of each kernel, by signature; `left_out` says why one has no time.

    `step_s` is what a call of a compiled Cell takes beside its kernels, `mindspore_version` what timed them.
    """

    seconds: dict[str, float]
    left_out: dict[str, str]
    step_s: float
    mindspore_version: str

    def joined(self, other: "TimedKernels") -> "TimedKernels":
        """Both together; of a kernel that was timed twice the lesser time counts, and it is not left out."""
        seconds = dict(self.seconds)
        for kernel, found in other.seconds.items():
            seconds[kernel] = min(found, seconds.get(kernel, found))
        left_out = {
            kernel: why for kernel, why in (self.left_out | other.left_out).items() if kernel not in seconds
        }
        step_s = min(self.step_s, other.step_s)
        return self.model_copy(update={"seconds": seconds, "left_out": left_out, "step_s": step_s})
