import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.price.signature import Signature
from halfwise.evaluators.price.timings import KernelTime, Timings

LAUNCH_S = 2e-6


def cast(elements: int, half_zeros: bool = False) -> Signature:
    """A cast of so many elements: six bytes each."""
    return Signature("Cast", (("float32", (elements,)),), ("float16", (elements,)), half_zeros)


def make_timings(times_us: dict[Signature, float]) -> Timings:
    """Timings of casts, whose work is six bytes an element."""
    kernels = {str(k): KernelTime(time=us, work=6 * k.output[1][0]) for k, us in times_us.items()}
    return Timings(host="here", unit="us", source="made up", date=datetime.date(2026, 1, 1), kernels=kernels)


def seconds(timings: Timings, kernel: Signature) -> float | None:
    """What the timings say of a cast."""
    return timings.seconds(kernel, 6.0 * kernel.output[1][0], LAUNCH_S)


def test_a_timed_kernel_takes_what_it_was_timed_at():
    """The very kernel's own time counts, in seconds."""
    timings = make_timings({cast(100): 10, cast(1000): 70})
    assert seconds(timings, cast(100)) == pytest.approx(10e-6)
    assert seconds(timings, cast(1000)) == pytest.approx(70e-6)


def test_between_two_sizes_the_time_goes_as_a_power_of_the_work():
    """Ten times the work at ten times the time: halfway on a log scale is the geometric mean."""
    timings = make_timings({cast(100): 10, cast(10_000): 1000})
    assert seconds(timings, cast(1000)) == pytest.approx(100e-6)


def test_beyond_the_sizes_the_time_follows_the_work():
    """Above the largest it grows in proportion; below the smallest it falls towards a launch."""
    timings = make_timings({cast(100): 10, cast(1000): 70})
    assert seconds(timings, cast(4000)) == pytest.approx(280e-6)
    assert seconds(timings, cast(50)) == pytest.approx(2e-6 + 8e-6 / 2)


def test_half_zeros_have_a_curve_of_their_own_or_share_the_plain_one():
    """Where half zeros were timed they count; where not, the kernel counts as any other."""
    plain = make_timings({cast(100): 10})
    both = make_timings({cast(100): 10, cast(100, True): 40})
    assert seconds(plain, cast(100, True)) == pytest.approx(10e-6)
    assert seconds(both, cast(100, True)) == pytest.approx(40e-6)
    assert seconds(both, cast(200, True)) == pytest.approx(80e-6)
    assert seconds(both, cast(100)) == pytest.approx(10e-6)


def test_a_kernel_of_another_kind_has_no_time():
    """Neither another op nor the other direction of a cast borrows a time."""
    timings = make_timings({cast(100): 10})
    back = Signature("Cast", (("float16", (100,)),), ("float32", (100,)))
    assert timings.seconds(back, 600.0, LAUNCH_S) is None
    assert timings.seconds(Signature("Mul", cast(100).inputs, cast(100).output), 600.0, LAUNCH_S) is None


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_more_work_never_takes_less(small: int, large: int):
    """Along a curve whose times rise, the time rises with the size."""
    small, large = sorted((small, large))
    timings = make_timings({cast(64): 3, cast(4096): 20, cast(65536): 300})
    first, second = seconds(timings, cast(small)), seconds(timings, cast(large))
    assert first is not None
    assert second is not None
    assert 0 < first <= second * (1 + 1e-12)
