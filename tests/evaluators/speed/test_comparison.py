"""Ratios and their intervals, held against closed forms and against simulated processes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.speed.comparison import Block, Pair, Round, compare


def pair(policy_s: float, float32_s: float, applied: int = 10) -> Pair:
    """Blocks of ten steps that took these times, in wall time and CPU time alike."""
    return Pair(Block(policy_s, policy_s, 0.0, applied), Block(float32_s, float32_s, 0.0, 10))


def rounds(*pairs: Pair, count: int = 6) -> list[Round]:
    """The same pairs in each of some rounds."""
    return [Round(pairs=pairs)] * count


def test_equal_pairs_give_their_ratio_without_doubt():
    """When every pair has one ratio, that is the median and both ends of the interval."""
    found = compare(rounds(pair(0.5, 1.0), pair(0.5, 1.0)), "CPU")
    assert (found.cpu.median, found.cpu.low, found.cpu.high) == (2.0, 2.0, 2.0)
    assert (found.rounds, found.pairs, found.conclusive) == (6, 12, True)
    words = "2.00x float32's speed (2.00 to 2.00), measured on CPU by CPU time"
    assert str(found) == f"{words}; 0% of the time went into waiting for data"


def test_only_applied_updates_count():
    """A policy whose every second update is skipped trains at half the speed of its steps, wherever they fall."""
    assert compare(rounds(pair(1.0, 1.0, applied=5)), "CPU").cpu.median == 0.5
    one_block_without = rounds(pair(1.0, 1.0, applied=0), pair(1.0, 1.0, applied=10))
    assert compare(one_block_without, "CPU").cpu.median == 0.5


def test_a_side_that_applies_nothing_has_no_speed():
    """A round without an update on one side is refused, and the message names the side."""
    with pytest.raises(ValueError, match="the policy does not train"):
        compare([*rounds(pair(1.0, 1.0)), *rounds(pair(1.0, 1.0, applied=0), count=1)], "CPU")
    idle = Pair(Block(1.0, 1.0, 0.0, 10), Block(1.0, 1.0, 0.0, 0))
    with pytest.raises(ValueError, match="the float32 twin does not train"):
        compare(rounds(idle), "CPU")


def test_rounds_that_differ_leave_the_ratio_open():
    """Blocks that agree within each pair of processes do not hide that the processes differ by half."""
    found = compare([Round(pairs=(pair(1.0, speed),) * 20) for speed in (0.5, 1.5, 0.7, 1.3, 0.6, 1.4)], "CPU")
    assert not found.conclusive
    assert found.cpu.low < 0.6
    assert found.cpu.high >= 1.4
    assert str(found).startswith("inconclusive: ")


def test_the_share_of_waiting_is_of_the_policys_own_time():
    """Waiting for data counts against the wall time of the policy's blocks."""
    waiting = Pair(Block(1.0, 1.0, 0.25, 10), Block(1.0, 1.0, 0.0, 10))
    found = compare(rounds(waiting), "CPU")
    assert found.waiting_share == pytest.approx(0.25)
    assert str(found).endswith("25% of the time went into waiting for data")


def test_a_cpu_is_judged_by_cpu_time_and_an_accelerator_by_wall_time():
    """The clock that decides depends on the device alone, and so does how narrow an interval must be."""
    mixed = Pair(Block(1.0, 2.0, 0.0, 10), Block(2.0, 2.0, 0.0, 10))
    assert compare(rounds(mixed), "CPU").judged.median == 1.0
    assert compare(rounds(mixed), "Ascend").judged.median == 2.0
    within_four_percent = [Round(pairs=(pair(1.0, speed),) * 3) for speed in (0.96, 1.0, 1.0, 1.0, 1.0, 1.04)]
    assert compare(within_four_percent, "CPU").conclusive
    assert not compare(within_four_percent, "Ascend").conclusive


@given(st.lists(st.lists(st.floats(0.1, 10), min_size=1, max_size=6), min_size=1, max_size=8), st.floats(0.1, 10))
def test_the_interval_lies_within_what_was_seen_and_scales(times, factor):
    """Both ends are between the extreme ratios, and a twin that is slower by a factor raises all by it."""
    found = compare([Round(pairs=tuple(pair(1.0, t) for t in each)) for each in times], "CPU").cpu
    scaled = compare([Round(pairs=tuple(pair(1.0, t * factor) for t in each)) for each in times], "CPU").cpu
    seen = [t for each in times for t in each]
    assert min(seen) - 1e-9 <= found.low <= found.high <= max(seen) + 1e-9
    assert found.median == pytest.approx(float(np.median([np.median(each) for each in times])))
    assert (scaled.low, scaled.median, scaled.high) == pytest.approx(
        (found.low * factor, found.median * factor, found.high * factor)
    )


def covered(process_deviation: float, block_deviation: float, rounds_each: int, runs: int = 200) -> float:
    """How often the interval holds 1 where processes and blocks scatter around it, as log-normal factors."""
    random = np.random.default_rng(7)
    held = 0
    for _ in range(runs):
        of_process = random.normal(0, process_deviation, size=(rounds_each, 1))
        times = np.exp(of_process + random.normal(0, block_deviation, size=(rounds_each, 8)))
        ratio = compare([Round(pairs=tuple(pair(1.0, t) for t in each)) for each in times], "CPU").cpu
        held += ratio.low <= 1 <= ratio.high
    return held / runs


@pytest.mark.parametrize("deviations", [(0.0, 0.05), (0.03, 0.05), (0.05, 0.01), (0.13, 0.02)])
def test_the_interval_holds_the_truth_whatever_it_is_that_scatters(deviations):
    """With the six rounds of a trial 95% are meant; 200 simulated runs must not lie three deviations below 92%.

    Where only processes differ, the percentile bootstrap of the median of six is known to fall a little short.
    """
    three_deviations = 3 * (0.92 * 0.08 / 200) ** 0.5
    assert covered(*deviations, rounds_each=6) >= 0.92 - three_deviations


def test_blocks_of_one_pair_of_processes_would_promise_too_much():
    """A single round, as long as six, misses the truth most of the time where processes differ by 5%."""
    assert covered(0.05, 0.01, rounds_each=1) < 0.5
