"""What the tests of the zoo share: a runner of real trials on its networks."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.search.zoo.laboratory import Laboratory
from benchmarks.search.zoo.plan import Plan
from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.outcome import Outcome
from halfwise.policies import Policy

Train = Callable[..., Outcome]

# Networks of the zoo convolve, if at all, on images so small that it doesn't matter how.
CPU = DeviceFacts("CPU", ("float16",), {}, reference_convolution=False)


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """`train(plan, low, seed=1)` trains a zoo network with the groups of these paths in float16."""

    def run(plan: Plan, low: Collection[str] = (), seed: int = 1) -> Outcome:
        evaluator = replace(Laboratory(plan, CPU).evaluator(), seed=seed)
        policy = Policy(default="float32", layers=dict.fromkeys(sorted(low), "float16"))
        outcome = evaluator.evaluate(policy, None, tmp_path / f"trial-{len(list(tmp_path.iterdir()))}")
        assert outcome.status != "failed", outcome.message
        return outcome

    return run
