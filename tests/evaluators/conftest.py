"""What the tests of evaluators share: a runner of real trials on tiny workloads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.memory_bound import MemoryBound
from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.process import Limits
from halfwise.policies import parse_policy

SUPPORT = Path(__file__).parents[1] / "support"

RunTrial = Callable[..., Outcome]
TINY = make_survey()


@pytest.fixture
def make_evaluator() -> Callable[..., Evaluator]:
    """`make_evaluator("make_tiny", steps=30)`: an evaluator of a tiny workload, other fields by name."""

    def make(workload: str, **changes: Any) -> Evaluator:
        fields: dict[str, Any] = {
            "workload": workload if ":" in workload else f"tiny_workloads:{workload}",
            "search_path": SUPPORT,
            "survey": TINY,
            "device": DeviceFacts("CPU", ("float16",), {}, reference_convolution=False),
            "seed": 1,
            "steps": 30,
            "limits": Limits(time_s=120, memory_bytes=4 << 30),
        }
        return Evaluator(**fields | changes)

    return make


@pytest.fixture
def run_trial(tmp_path: Path, make_evaluator: Callable[..., Evaluator]) -> RunTrial:
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
        changes = {"limits": limits} if limits else {}
        evaluator = make_evaluator(workload, seed=seed, steps=steps, memory_bound=memory_bound, **changes)
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
