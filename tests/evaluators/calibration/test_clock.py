import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.calibration.clock import Clock, chained_s


class MadeUpTime:
    """A machine whose runs take what a function of the number of copies says, and noise on top of most of them."""

    def __init__(self, kernel_s: float, call_s: float, noise_s: list[float]):
        self.kernel_s, self.call_s, self.noise_s = kernel_s, call_s, noise_s
        self.now_s, self.runs = 0.0, 0

    def run(self, copies: int) -> None:
        """Let the time pass that so many copies take; one run of three is free of noise."""
        self.runs += 1
        noise_s = 0.0 if self.runs % 3 == 0 else self.noise_s[self.runs % len(self.noise_s)]
        self.now_s += self.call_s + copies * self.kernel_s + noise_s


@given(
    kernel_s=st.floats(1e-6, 1.0),
    call_s=st.floats(0, 10.0),
    noise_s=st.lists(st.floats(0, 5.0), min_size=1, max_size=5),
)
def test_copies_minus_one_give_back_the_kernel_alone(kernel_s: float, call_s: float, noise_s: list[float]):
    """Whatever a call takes and whatever noise comes on top, the kernel's own time is left."""
    machine = MadeUpTime(kernel_s, call_s, noise_s)
    clock = Clock(now=lambda: machine.now_s, wall=lambda: machine.now_s)
    found = chained_s(lambda: machine.run(12), lambda: machine.run(1), 12, clock, budget_s=0.0)
    assert found == pytest.approx(kernel_s, rel=1e-6, abs=1e-9)


def test_each_side_runs_at_least_twelve_times_and_until_the_budget_is_spent():
    """Without any budget twelve rounds; with one of 100 rounds' time about as many."""
    for budget_s, rounds in ((0.0, 12), (100.0, 100)):
        machine = MadeUpTime(0.5, 0.0, [0.0])
        clock = Clock(now=lambda machine=machine: machine.now_s, wall=lambda machine=machine: machine.now_s)
        clock.least(budget_s, lambda machine=machine: machine.run(1), lambda machine=machine: machine.run(1))
        assert machine.runs == 2 * rounds
