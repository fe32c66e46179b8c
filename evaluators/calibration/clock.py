"""The arithmetic of timing a short thing: runs in turn, the least of each, a difference over the copies."""

import time
from collections.abc import Callable
from dataclasses import dataclass

_LEAST_RUNS = 12


@dataclass(frozen=True)
class Clock:
    """`now` gives seconds that are judged by, `wall` those that a budget is kept by."""

    now: Callable[[], float]
    wall: Callable[[], float] = time.monotonic

    def least(self, budget_s: float, *runs: Callable[[], object]) -> tuple[float, ...]:
        """Seconds of the shortest run of each function, called in turn until the budget is spent.

        The shortest and not the median: whatever a run takes beyond its shortest was another process's doing.
        Each is called at least twelve times, whatever the budget.
        """
        least = [float("inf")] * len(runs)
        started, rounds = self.wall(), 0
        while rounds < _LEAST_RUNS or self.wall() - started < budget_s:
            for place, run in enumerate(runs):
                before = self.now()
                run()
                least[place] = min(least[place], self.now() - before)
            rounds += 1
        return tuple(least)


def chained_s(
    chain: Callable[[], object], single: Callable[[], object], copies: int, clock: Clock, budget_s: float
) -> float:
    """Seconds of one copy: a run of `copies` of them minus a run of one, over the copies between.

    What calling and reading take is in both and goes. Noise can leave a difference of zero or less.
    """
    many_s, one_s = clock.least(budget_s, chain, single)
    return (many_s - one_s) / (copies - 1)
