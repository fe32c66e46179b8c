"""Ratios and their intervals, held against closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.speed.comparison import Block, Pair, compare


def pair(policy_s: float, float32_s: float, applied: int = 10) -> Pair:
    """Blocks of ten steps that took these times, in wall time and CPU time alike."""
    return Pair(Block(policy_s, policy_s, 0.0, applied), Block(float32_s, float32_s, 0.0, 10))


def test_equal_pairs_give_their_ratio_without_doubt():
    """When every pair has one ratio, that is the median and both ends of the interval."""
    found = compare([pair(0.5, 1.0)] * 8, "CPU", 10)
    assert (found.cpu.median, found.cpu.low, found.cpu.high) == (2.0, 2.0, 2.0)
    assert found.conclusive
    assert str(found) == "2.00x float32's speed (2.00 to 2.00), measured on CPU by CPU time"


def test_only_applied_updates_count():
    """A policy whose every second update is skipped trains at half the speed of its steps."""
    assert compare([pair(1.0, 1.0, applied=5)] * 8, "CPU", 10).cpu.median == 0.5


def test_a_wide_interval_is_inconclusive():
    """Pairs that scatter by half leave the ratio open, and the words say so."""
    scattered = [pair(1.0, factor) for factor in (0.5, 1.5, 0.7, 1.3, 0.6, 1.4, 0.8, 1.2)]
    found = compare(scattered, "CPU", 10)
    assert not found.conclusive
    assert str(found).startswith("inconclusive: ")


def test_the_share_of_waiting_is_of_the_policys_own_time():
    """Waiting for data counts against the wall time of the policy's blocks."""
    waiting = Pair(Block(1.0, 1.0, 0.25, 10), Block(1.0, 1.0, 0.0, 10))
    assert compare([waiting] * 8, "CPU", 10).waiting_share == pytest.approx(0.25)


def test_a_cpu_is_judged_by_cpu_time_and_an_accelerator_by_wall_time():
    """The clock that decides depends on the device alone."""
    mixed = Pair(Block(1.0, 2.0, 0.0, 10), Block(2.0, 2.0, 0.0, 10))
    assert compare([mixed] * 8, "CPU", 10).judged.median == 1.0
    assert compare([mixed] * 8, "Ascend", 10).judged.median == 2.0


@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=20), st.floats(0.1, 10))
def test_the_median_lies_in_its_interval_and_scales(times, factor):
    """The interval holds the median, and a twin that is slower by a factor raises the ratio by it."""
    found = compare([pair(1.0, time) for time in times], "CPU", 10).cpu
    scaled = compare([pair(1.0, time * factor) for time in times], "CPU", 10).cpu
    assert found.low <= found.median <= found.high
    assert found.median == pytest.approx(float(np.median(times)))
    assert scaled.median == pytest.approx(found.median * factor)
