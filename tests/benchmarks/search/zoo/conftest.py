"""What the tests of the zoo share: a runner of real trials on its networks."""

from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from benchmarks.search.zoo.plan import Plan
from benchmarks.search.zoo.references import ROOT, reference_of
from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.process import Limits
from halfwise.evaluators.survey_result import Survey
from halfwise.policies import Policy

Train = Callable[..., Outcome]


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """`train(plan, low, seed=1)` trains a zoo network with the groups of these paths in float16."""

    def run(plan: Plan, low: Collection[str] = (), seed: int = 1) -> Outcome:
        evaluator = Evaluator(
            workload=reference_of(plan),
            search_path=ROOT,
            survey=_survey(plan),
            device=DeviceFacts("CPU", ("float16",), {}, reference_convolution=False),
            seed=seed,
            steps=50,
            limits=Limits(time_s=280, memory_bytes=4 << 30),
        )
        policy = Policy(default="float32", layers=dict.fromkeys(sorted(low), "float16"))
        outcome = evaluator.evaluate(policy, None, tmp_path / f"trial-{len(list(tmp_path.iterdir()))}")
        assert outcome.status != "failed", outcome.message
        return outcome

    return run


def _survey(plan: Plan) -> Survey:
    return Survey(
        workload=plan.name,
        metric="explained",
        direction="maximize",
        batch_size=512,
        trial_steps=50,
        full_steps=500,
        parameters=0,
        mindspore_version="2.10.0",
        cells=(),
    )
