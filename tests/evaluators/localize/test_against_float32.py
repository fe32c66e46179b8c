"""A step of tiny real networks held against float32: what is healthy, and what leaves first."""

from pathlib import Path

import pytest

from halfwise.evaluators.localize.against_float32 import against_float32
from halfwise.evaluators.localize.compare import Compared
from halfwise.evaluators.localize.values import REACH_JOB, Reached, ReachRequest, StepRequest
from halfwise.evaluators.process import Limits, run_job
from halfwise.policies import parse_policy

SUPPORT = Path(__file__).parents[2] / "support"
LIMITS = Limits(time_s=120, memory_bytes=4 << 30)
WITHOUT_SCALING = "{default: float16, loss_scaling: {kind: none}}"


@pytest.fixture
def compared(tmp_path):
    """`compared("tiny_workloads:make_tiny", "O3")`: the first step against float32."""

    def run(workload: str, policy: str, loss_scale: float = 1024.0, steps: int = 0) -> Compared:
        job = {
            "workload": workload,
            "search_path": SUPPORT,
            "folder": tmp_path / "job",
            "target": "CPU",
            "policy": str(parse_policy(policy)),
            "seed": 1,
        }
        state = tmp_path / "weights.ckpt" if steps else None
        if state is not None:
            reached = run_job(REACH_JOB, ReachRequest(**job, steps=steps, state=state), Reached, LIMITS)
            assert isinstance(reached, Reached), reached
            assert reached.loss_scale == 65536.0
        found = against_float32(StepRequest(**job, step=steps, loss_scale=loss_scale, state=state), LIMITS)
        assert isinstance(found, Compared), found
        assert not list(tmp_path.rglob("*.npy"))
        return found

    return run


def test_a_network_that_trains_in_float16_leaves_nowhere(compared):
    """Nearly every op of a harmless network has a twin, and none is further off than its precision explains."""
    found = compared("tiny_workloads:make_functions", "O3")
    assert found.departures == ()
    assert found.compared > 20
    assert found.without_twin <= 0.1 * found.compared


@pytest.mark.full
def test_float32_against_itself_is_equal(compared):
    """Equal graphs have equal values: nothing departs, and every op has its twin."""
    found = compared("tiny_workloads:make_tiny", "{default: float32}")
    assert (found.departures, found.without_twin) == ((), 0)


@pytest.mark.full
def test_a_later_step_starts_from_its_own_weights(compared):
    """After three steps of training the network is still found whole, and leaves float32 nowhere."""
    found = compared("tiny_workloads:make_tiny", "O3", steps=3)
    assert (found.departures, found.without_twin) == ((), 0)


def test_a_difference_of_large_numbers_leaves_first(compared):
    """Inputs around 5,000: float16 keeps every fourth number, and taking 5,000 off again shows it."""
    first = compared("sensitivity_workloads:make_clock", "O3").departures[0]
    assert (first.key.layer, first.key.op, first.key.direction) == ("clock", "Sub", "forward")
    assert first.finite
    assert first.ulps > 100 > first.allowed_ulps
    assert first.blames == (("clock", "Sub"),)


def test_a_gradient_that_vanishes_leaves_first(compared):
    """Without a loss scale the first gradient op in float16 loses values; its forward op is blamed."""
    first = compared("localize_workloads:make_frozen", WITHOUT_SCALING, loss_scale=1.0).departures[0]
    assert first.key.direction == "gradient"
    assert first.key.layer == "second"
    assert first.lost == 1.0
    assert {layer for layer, _ in first.blames} == {"second"}


def test_values_beyond_the_range_that_do_no_harm_are_passed_over(compared):
    """A score of minus infinity before a softmax is no departure; the product that overflows behind it is one."""
    first = compared("localize_workloads:make_late_overflow", "O3").departures[0]
    assert (first.key.layer, first.key.op, first.finite) == ("squares", "Mul", False)
