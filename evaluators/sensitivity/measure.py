"""Measures a workload's sensitivity from a process that runs no op itself."""

from ..process import Failure, Limits, run_job
from .result import SENSITIVITY_JOB, Sensitivity, SensitivityRequest


def measure_sensitivity(request: SensitivityRequest, limits: Limits) -> Sensitivity:
    """Run the job in a fresh process.

    Raises:
        InputError: the workload is wrong, or MindSpore cannot compile it in graph mode.
        HalfwiseError: float32 itself is not finite, or the process did not get to its end.
    """
    found = run_job(SENSITIVITY_JOB, request, Sensitivity, limits)
    if isinstance(found, Failure):
        raise found.as_error()
    return found
