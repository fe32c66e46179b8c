"""A policy as the network's own code with casts: a Python file that needs MindSpore and the network's modules."""

import tempfile
from pathlib import Path

from ...evaluators.casting_result import CASTING_JOB, CastingRequest, CastingResult
from ...evaluators.process import Failure, Limits, run_job
from ...policies import Policy
from .form import Exported

_LIMITS = Limits(time_s=600, memory_bytes=16 << 30)


def rewritten_source(policy: Policy, title: str, workload: str, search_path: Path) -> Exported:
    """The file for the network of a workload `module:function`, written in a process of its own.

    Raises:
        InputError: the workload is wrong, the policy is for another network, or its code cannot be rewritten; each
            such place is named by class and line.
        HalfwiseError: the process did not get to its end.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        request = CastingRequest(
            workload=workload,
            search_path=search_path,
            folder=Path(folder) / "casting",
            target="CPU",
            policy=str(policy),
            title=f"The policy {title}, digest {policy.digest}",
        )
        found = run_job(CASTING_JOB, request, CastingResult, _LIMITS)
    if isinstance(found, Failure):
        raise found.as_error()
    return Exported(found.source, _lost(policy, found))


def _lost(policy: Policy, found: CastingResult) -> list[str]:
    inside = [
        f"{name} is defined inside of another function, where the file does not find it: move it to its module"
        for name in found.without_place
    ]
    return [*inside, f"loss scaling is not in the file: the policy asks for {policy.loss_scaling.label}"]
