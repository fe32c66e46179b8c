"""Procedures that decide from trial to trial, written from top to bottom and replayed over a history.

A procedure is a generator: it yields the choices to try and gets what became of them. Replayed from its start for
every proposal, it has no state of its own: the history is all there is, so a resumed search goes on by itself.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence

from .cost_model import Choices
from .proposer import Tried

Steps = Generator[Choices, Tried, None]


def replay(steps: Steps, tried: Sequence[Tried]) -> Choices | None:
    """The first choices that the procedure asks for and the history does not hold; None when it is through.

    Trials are known by their choices, whoever proposed them; of several the first that is over counts. A pending
    trial counts as one that does not train until it is over: then the replay takes the path that it leads to.
    """
    known: dict[Choices, Tried] = {}
    for trial in tried:
        if trial.choices not in known or known[trial.choices].pending:
            known[trial.choices] = trial
    try:
        choices = next(steps)
        while choices in known:
            choices = steps.send(known[choices])
    except StopIteration:
        return None
    return choices


def narrow(
    good: int, bad: int, choices: Callable[[int], Choices], works: Callable[[Tried], bool]
) -> Generator[Choices, Tried, int]:
    """Binary search between a number that works and one that does not, for the last that works."""
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if works((yield choices(middle))):
            good = middle
        else:
            bad = middle
    return good


def halving(last: int) -> Iterator[int]:
    """1 to `last`: the last first, then the middle of gap after gap, the widest first."""
    if last > 0:
        yield last
    gaps = deque([(0, last)])
    while gaps:
        low, high = gaps.popleft()
        middle = (low + high) // 2
        if middle > low:
            yield middle
            gaps += [(low, middle), (middle, high)]


def works_within(max_quality_lost: float | None) -> Callable[[Tried], bool]:
    """Whether a policy trained and lost at most so much quality; with None it only has to train."""

    def works(trial: Tried) -> bool:
        if trial.quality_lost is None:
            return False
        return max_quality_lost is None or trial.quality_lost <= max_quality_lost

    return works
