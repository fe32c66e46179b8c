"""What a benchmark asks of fresh processes, and what they answer; free of mindspore, for the asking process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, PositiveInt

from halfwise.evaluators.process import Failure, Limits, run_job
from halfwise.evaluators.request import Request
from halfwise.experiments.workloads import resolve_reference

ResultT = TypeVar("ResultT", bound=BaseModel)

ENTRY_JOB = "benchmarks.job_entry:enter"
FIRST_STEP_JOB = "benchmarks.job_entry:first_step"
TRIAL_STEPS_JOB = "benchmarks.job_steps:trial_steps"
PLAIN_STEPS_JOB = "benchmarks.job_steps:plain_steps"
REWRITE_JOB = "benchmarks.job_rewrite:rewrite"

_LIMITS = Limits(time_s=300, memory_bytes=8 << 30)


class StepsRequest(Request):
    """Train a built-in workload under a policy's text for some steps."""

    workload: str
    policy: str
    steps: PositiveInt

    @property
    def reference(self) -> str:
        """The workload as `module:function`."""
        return resolve_reference(self.workload)


class RewriteRequest(Request):
    """Put a policy onto a network of so many layers by one engine."""

    engine: Literal["regions", "symbol-tree"]
    layers: PositiveInt


class Answer(BaseModel):
    """What a job answers: a frozen value."""

    model_config = ConfigDict(frozen=True)


class Entry(Answer):
    """When the job was entered, on the system's monotonic clock, which all processes share."""

    entered_s: float


class FirstStep(Entry):
    """When each stage was behind it: workload and training step built, compiled, first step finished."""

    built_s: float
    compiled_s: float
    stepped_s: float


class Steps(Answer):
    """Losses of all steps, and what each step cost, its batch and its bookkeeping included; nothing compiled."""

    losses: tuple[float, ...]
    wall_s: tuple[float, ...]
    process_cpu_s: tuple[float, ...]


class Rewritten(Answer):
    """Seconds of the clock that applying the policy took, and compiling the step after it."""

    apply_wall_s: float
    compile_wall_s: float


def least_step_cpu_s(runs: Sequence[Steps]) -> float:
    """CPU time of one step on average, every step counted with the least of its runs.

    All runs train the same steps, so whatever a step takes beyond its least was another process's doing: on
    shared cores the CPU time of a whole run varies by a third or more.
    """
    least = [min(costs) for costs in zip(*(run.process_cpu_s for run in runs), strict=True)]
    return sum(least) / len(least)


def answer(job: str, request: Request, kind: type[ResultT]) -> ResultT:
    """The job's answer from a fresh process, started as a trial's is.

    Raises:
        HalfwiseError: the job failed; its own words are quoted.
    """
    found = run_job(job, request, kind, _LIMITS)
    if isinstance(found, Failure):
        raise found.as_error()
    return found


def steps_request(
    folder: Path, workload: str, policy: str, steps: int, environment: Mapping[str, str]
) -> StepsRequest:
    """A request on the CPU: the figures to reach are stated for it."""
    return StepsRequest(
        folder=folder,
        target="CPU",
        environment=dict(environment),
        workload=workload,
        policy=policy,
        steps=steps,
    )
