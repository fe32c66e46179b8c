"""Steps of a workload under random policies, each timed in fresh processes, with the kernels that they run."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import survey_workload
from halfwise.evaluators.process import Failure, Limits, run_job
from halfwise.evaluators.request import WorkloadRequest
from halfwise.evaluators.survey_result import Survey, SurveyRequest
from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.space_of import space_of
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies import BUILTIN, Policy

from .bench import Say

STEPS_JOB = "benchmarks.job_calibration:time_steps"
KERNELS = "kernels.pickle"
RUNS = 2
FLOAT32_EVERY = 10

# What overflows in float16 whatever else is chosen stays float32: a step that is skipped has no update to price.
HAZARDS: Mapping[str, Mapping[str, str]] = {
    "digits-resnet": {},
    "text-transformer": {f"blocks.{block}.attention::Mul": "float32" for block in (0, 1)},
    "tabular-mlp": {"features": "float32"},
}

_LIMITS = Limits(time_s=300, memory_bytes=8 << 30)


class StepRequest(WorkloadRequest):
    """Time steps under a policy's text; the kernel table is a pickle in the folder if it is asked for."""

    policy: str
    list_kernels: bool


class TimedSteps(BaseModel):
    """Process CPU time of one step."""

    model_config = ConfigDict(frozen=True)

    step_cpu_s: float


@dataclass(frozen=True)
class PolicySteps:
    """One policy's step: its kernel table, and process CPU time a step in each run."""

    kernels: pd.DataFrame
    runs_s: tuple[float, ...]

    @property
    def least_s(self) -> float:
        """The least of the runs."""
        return min(self.runs_s)


class StepTimer:
    """Times steps of one workload, every run in a process of its own."""

    def __init__(self, folder: Path, workload: str, device: DeviceFacts) -> None:
        self._folder = folder
        self.workload = workload
        self._device = device
        reference = resolve_reference(workload)
        self._request = {"target": device.target, "workload": reference, "search_path": folder}
        self.survey: Survey = survey_workload(SurveyRequest(folder=folder / "survey", **self._request), _LIMITS)

    def time(self, policy: Policy) -> PolicySteps | Failure:
        """All runs of one policy, or why it could not be measured."""
        runs = []
        for run in range(RUNS):
            request = StepRequest(
                **self._request,
                folder=self._folder / "steps",
                environment=self._device.environment(self.survey.convolves),
                policy=str(policy),
                list_kernels=run == 0,
            )
            found = run_job(STEPS_JOB, request, TimedSteps, _LIMITS)
            if isinstance(found, Failure):
                return found
            runs.append(found.step_cpu_s)
        return PolicySteps(pd.read_pickle(self._folder / "steps" / KERNELS), tuple(runs))

    def time_float32(self) -> PolicySteps:
        """The untouched network, with the loss scaling of the policies: its ops are no matter of precision.

        Raises:
            HalfwiseError: it could not be measured.
        """
        found = self.time(BUILTIN["O0"].replace(loss_scaling=Experiment(workload=self.workload).loss_scaling))
        if isinstance(found, Failure):
            raise found.as_error()
        return found

    def random_policies(self, seed: int) -> Iterator[Policy]:
        """Policies without end from the workload's own search space, the hazards pinned."""
        experiment = Experiment(workload=self.workload, precisions=("float16", "float32"))
        space = space_of(experiment, self.survey, self._device)
        draws = random.Random(seed)
        while True:
            choices = {name: draws.choice(allowed) for name, allowed in space.parameters().items()}
            policy = space.policy(choices)
            yield policy.replace(layers={**policy.layers, **HAZARDS[self.workload]})

    def time_random(self, count: int, seed: int, say: Say) -> tuple[list[PolicySteps], list[PolicySteps]]:
        """As many policies as asked for, and float32 again after every tenth: the machine is not always as fast.

        Policies that do not compile, prove or train every step are drawn again.

        Raises:
            HalfwiseError: more had to be drawn again than are asked for; the last one's reason is quoted.
        """
        found: list[PolicySteps] = []
        float32 = [self.time_float32()]
        redrawn: list[str] = []
        for policy in self.random_policies(seed):
            steps = self.time(policy)
            if isinstance(steps, Failure):
                redrawn.append(steps.message)
                if len(redrawn) > count:
                    raise steps.as_error()
            else:
                found.append(steps)
                if len(found) % FLOAT32_EVERY == 0:
                    float32.append(self.time_float32())
            if len(found) == count:
                break
        words = f", {len(redrawn)} drawn again, the first because: {redrawn[0]}" if redrawn else ""
        say(f"{self.workload}: {count} policies measured{words}")
        return found, float32
