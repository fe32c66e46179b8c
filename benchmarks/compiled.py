"""Training steps compiled in fresh processes: their op tables, and what compiling and reading them took."""

import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pandas as pd
from pydantic import BaseModel, ConfigDict

from halfwise.evaluators.process import Failure, Limits, run_job
from halfwise.evaluators.request import WorkloadRequest
from halfwise.experiments.workloads import resolve_for_pricing
from halfwise.policies import Policy

COMPILE_JOB = "benchmarks.job_compile:compile_step"
TABLE = "table.pickle"

_LIMITS = Limits(time_s=600, memory_bytes=16 << 30)


class CompileRequest(WorkloadRequest):
    """Compile the workload's step under a policy's text; `batch_size` replaces the workload's own."""

    policy: str
    batch_size: int | None = None


class Spent(BaseModel):
    """Seconds of the clock and of the process's own CPU time."""

    model_config = ConfigDict(frozen=True)

    wall_s: float
    cpu_s: float

    @classmethod
    def now(cls) -> "Spent":
        """Both clocks; only differences mean anything."""
        return cls(wall_s=time.perf_counter(), cpu_s=time.process_time())

    def __sub__(self, earlier: "Spent") -> "Spent":
        """What went by between two readings."""
        return Spent(wall_s=self.wall_s - earlier.wall_s, cpu_s=self.cpu_s - earlier.cpu_s)

    def __str__(self) -> str:
        """As a line of a benchmark shows it."""
        return f"{self.wall_s:.2f} s ({self.cpu_s:.2f} s of CPU time)"


class CompileAnswer(BaseModel):
    """What one step took, MindSpore's compilation and all the evidence, and the most memory held."""

    model_config = ConfigDict(frozen=True)

    built: Spent
    compile_wall_s: float | None
    evidence: Spent
    peak_memory_bytes: int
    batch_size: int
    summary: str
    mismatches: tuple[str, ...]

    @property
    def reading_wall_s(self) -> float:
        """The part of the evidence that is halfwise's own: marks, reading and proof."""
        return self.evidence.wall_s - (self.compile_wall_s or 0.0)


@dataclass(frozen=True)
class CompiledStep:
    """The answer, and the op table of the step."""

    answer: CompileAnswer
    table: pd.DataFrame


def compile_step(
    folder: Path,
    workload: str,
    policy: Policy,
    batch_size: int | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> CompiledStep:
    """The op table of a workload's step under a policy, compiled on the CPU in a process of its own.

    Raises:
        HalfwiseError: MindSpore does not compile it; its own words are quoted.
    """
    request = CompileRequest(
        folder=folder,
        target="CPU",
        environment=dict(environment),
        workload=resolve_for_pricing(workload),
        search_path=folder,
        policy=str(policy),
        batch_size=batch_size,
    )
    answer = run_job(COMPILE_JOB, request, CompileAnswer, _LIMITS)
    if isinstance(answer, Failure):
        raise answer.as_error()
    return CompiledStep(answer, pickle.loads((folder / TABLE).read_bytes()))
