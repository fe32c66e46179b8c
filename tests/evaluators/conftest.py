"""What the tests of evaluators share: a runner of real trials on tiny workloads."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.memory_bound import MemoryBound
from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.process import Limits
from halfwise.evaluators.survey_result import Survey
from halfwise.policies import parse_policy

SUPPORT = Path(__file__).parents[1] / "support"

RunTrial = Callable[..., Outcome]


@pytest.fixture
def run_trial(tmp_path: Path) -> RunTrial:
    """`run_trial("make_tiny", "O3", steps=30)` trains a tiny workload under a policy in a real process."""

    def run(
        workload: str,
        policy: str = "O0",
        steps: int = 30,
        limits: Limits | None = None,
        seed: int = 1,
        trained: dict[str, Outcome] | None = None,
        memory_bound: MemoryBound | None = None,
    ) -> Outcome:
        evaluator = Evaluator(
            workload=workload if ":" in workload else f"tiny_workloads:{workload}",
            search_path=SUPPORT,
            survey=Survey(
                workload="tiny",
                metric="accuracy",
                direction="maximize",
                batch_size=32,
                trial_steps=30,
                full_steps=300,
                parameters=0,
                mindspore_version="2.10.0",
                cells=(),
            ),
            device=DeviceFacts("CPU", ("float16",), {}, reference_convolution=False),
            seed=seed,
            steps=steps,
            limits=limits or Limits(time_s=120, memory_bytes=4 << 30),
            memory_bound=memory_bound,
        )
        number = len(list(tmp_path.iterdir()))
        return evaluator.evaluate(parse_policy(policy), None, tmp_path / f"trial-{number}", trained)

    return run


@pytest.fixture
def processes_with() -> Callable[[str], list[int]]:
    """`processes_with("word")`: ids of the processes whose command line holds the word."""

    def find(word: str) -> list[int]:
        found = []
        for process in psutil.process_iter(["cmdline"]):
            if any(word in part for part in process.info["cmdline"] or []):
                found.append(process.pid)
        return found

    return find
