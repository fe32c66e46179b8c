"""Rewrites a workload's network in a process of its own."""

import tempfile
from pathlib import Path

from ..evaluators.device_facts import learn_device
from ..evaluators.process import Failure, Limits, run_job
from ..evaluators.rewriting_result import REWRITE_JOB, AskedRule, RewritingRequest, RewritingResult
from ..policies import Mode
from .workloads import resolve_for_pricing

_LIMITS = Limits(time_s=1800, memory_bytes=16 << 30)


def rewriting_of(workload: str, rules: tuple[AskedRule, ...], mode: Mode) -> RewritingResult:
    """What the rules make of the workload's network on this device, with fresh weights.

    Raises:
        InputError: the workload is wrong.
        HalfwiseError: the rewritten network computes something else, or the process did not get to its end.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        device = learn_device("auto", Path(scratch))
        request = RewritingRequest(
            workload=resolve_for_pricing(workload),
            search_path=Path.cwd(),
            folder=Path(scratch) / "rewriting",
            target=device.target,
            environment=device.environment(convolves=True),
            rules=rules,
            mode=mode,
        )
        found = run_job(REWRITE_JOB, request, RewritingResult, _LIMITS)
        if isinstance(found, Failure):
            raise found.as_error()
        return found
