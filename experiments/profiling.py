"""Profiles a workload under a policy, in a process of its own."""

import tempfile
from pathlib import Path

from ..evaluators.device_facts import learn_device
from ..evaluators.device_names import DeviceChoice
from ..evaluators.evaluator import survey_workload
from ..evaluators.price.devices import Device
from ..evaluators.process import Failure, Limits, run_job
from ..evaluators.profiling.result import PROFILE_JOB, Profile, ProfileRequest
from ..evaluators.survey_result import SurveyRequest
from ..policies import Policy
from .workloads import resolve_reference

_LIMITS = Limits(time_s=3600, memory_bytes=16 << 30)


def profile_workload(
    workload: str, policy: Policy, price_for: Device, steps: int, device: DeviceChoice
) -> Profile:
    """Train so many steps under MindSpore's profiler, after a few that are not counted.

    Raises:
        InputError: workload or policy are wrong, or MindSpore cannot compile the step.
        HalfwiseError: the process did not get to its end, or the profiler left nothing that can be read.
    """
    reference, path = resolve_reference(workload), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        folder = Path(scratch)
        facts = learn_device(device, folder)
        asked = SurveyRequest(workload=reference, search_path=path, target=facts.target, folder=folder / "survey")
        request = ProfileRequest(
            workload=reference,
            search_path=path,
            target=facts.target,
            folder=folder / "profile",
            # On a CPU the convolutions are to be those of a trial.
            environment=facts.environment(survey_workload(asked, _LIMITS).convolves),
            policy=str(policy),
            steps=steps,
            price_for=price_for,
        )
        found = run_job(PROFILE_JOB, request, Profile, _LIMITS)
    if isinstance(found, Failure):
        raise found.as_error()
    return found
