"""Speed against a float32 twin, in real processes."""

from pathlib import Path

import pytest

from halfwise.evaluators.process import Failure, Limits
from halfwise.evaluators.speed.measure import measure_speed
from halfwise.evaluators.speed.twin import MIN_PAIRS
from halfwise.evaluators.speed.twin_request import SpeedRequest

SUPPORT = Path(__file__).parents[2] / "support"


def request(folder: Path, workload: str, policy: str, rounds: int = 1) -> SpeedRequest:
    """A short measurement of a tiny workload."""
    return SpeedRequest(
        workload=f"tiny_workloads:{workload}",
        search_path=SUPPORT,
        folder=folder / "policy",
        target="CPU",
        policy=policy,
        seed=1,
        budget_s=0.5,
        rounds=rounds,
    )


def test_float32_against_itself(tmp_path):
    """A float32 policy against its twin: some pairs in each round, ratios positive, some time goes into data."""
    found = measure_speed(request(tmp_path, "make_tiny", "O0", rounds=2), Limits(60, 4 << 30))
    assert not isinstance(found, Failure)
    assert found.rounds == 2
    assert found.pairs >= 2 * MIN_PAIRS
    assert 0 < found.cpu.low <= found.cpu.median <= found.cpu.high
    assert 0 < found.waiting_share < 1


@pytest.mark.parametrize(
    ("workload", "policy", "words"), [("make_raising", "O0", "on strike"), ("make_overflowing", "O3", "no update")]
)
def test_a_side_that_fails_ends_the_other(tmp_path, workload, policy, words):
    """When a side raises, or its policy does not train, the measurement says so instead of waiting."""
    found = measure_speed(request(tmp_path, workload, policy), Limits(60, 4 << 30))
    assert isinstance(found, Failure)
    assert words in found.message
