from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.propose.aimet import Aimet
from halfwise.search.propose.bisect import Bisect
from halfwise.search.propose.proposer import Proposer, Tried
from halfwise.search.propose.replayed import Steps, halving, narrow, replay

from .models import additive, choices_of, history, row

MODEL = row(0.5, 0.1, 0.4, 0.3, 0.2)
OUTCOME = additive(0.1, 0.2, float("inf"), 0.05, 0.4)
PROCEDURES = [Aimet(MODEL), Aimet(MODEL, 0.3), Bisect(MODEL), Bisect(MODEL, 0.3)]


@pytest.mark.parametrize("proposer", PROCEDURES)
def test_the_order_in_which_trials_are_known_does_not_matter(proposer: Proposer):
    """A procedure finds its trials by their choices, whatever stands between them and whoever proposed them."""
    tried = history(proposer, OUTCOME, 40)
    for end in range(len(tried)):
        mixed = [Tried((1, 0, 1, 0, 1), 0.0), *reversed(tried[:end])]
        assert proposer.propose(mixed, np.random.default_rng(0)) in (tried[end].choices, *_later(tried, end))


def _later(tried: list[Tried], end: int) -> list[tuple[int, ...]]:
    # Where the strange trial is one that the procedure would ask for, it goes on with the next.
    return [trial.choices for trial in tried[end + 1 :]] if tried[end].choices == (1, 0, 1, 0, 1) else []


@pytest.mark.parametrize("proposer", PROCEDURES)
def test_nothing_is_asked_for_twice_and_an_end_is_an_end(proposer: Proposer):
    """Every proposal is new, and after the last one there is none."""
    tried = history(proposer, OUTCOME, 1000)
    assert len(set(choices_of(tried))) == len(tried) < 32
    assert proposer.propose(tried, np.random.default_rng(0)) is None


@pytest.mark.parametrize("proposer", PROCEDURES)
def test_pending_trials_are_not_asked_for_again(proposer: Proposer):
    """Two workers at once get different policies."""
    tried = history(proposer, OUTCOME, 3)
    rng = np.random.default_rng(0)
    first = proposer.propose(tried, rng)
    assert first is not None
    second = proposer.propose([*tried, Tried(first, None, pending=True)], rng)
    assert second not in (first, *(trial.choices for trial in tried))


@pytest.mark.parametrize("proposer", PROCEDURES)
def test_a_trial_that_ends_counts_for_more_than_one_that_still_runs(proposer: Proposer):
    """Where a policy is pending in one trial and over in another, the procedure goes by the one that is over."""
    tried, rng = history(proposer, OUTCOME, 40), np.random.default_rng(0)
    for end in range(1, len(tried)):
        pending = [Tried(trial.choices, None, pending=True) for trial in tried[:end]]
        assert proposer.propose([*pending, *tried[:end]], rng) == tried[end].choices


@given(st.integers(0, 70), st.integers(0, 70))
def test_narrowing_finds_the_border(border: int, size: int):
    """Between a number that works and one that does not, binary search ends at the last that works."""
    size, border = max(border, size) + 1, min(border, size)
    asked: list[int] = []

    def outcome(choices: tuple[int, ...]) -> Tried:
        asked.append(choices[0])
        return Tried(choices, float(choices[0] <= border))

    steps = narrow(0, size, lambda number: (number,), lambda trial: trial.quality_lost == 1)
    found = _run(steps, outcome)
    assert found == border
    assert len(asked) <= int(np.ceil(np.log2(size)))


def _run(steps, outcome):
    try:
        choices = next(steps)
        while True:
            choices = steps.send(outcome(choices))
    except StopIteration as end:
        return end.value


@given(st.integers(0, 200))
def test_halving_gives_each_number_once_and_leaves_no_wide_gap(last: int):
    """All numbers come once; after any number of them no gap is more than twice as wide as it must be."""
    numbers = list(halving(last))
    assert sorted(numbers) == list(range(1, last + 1))
    for count in range(1, last + 1):
        known = sorted([0, *numbers[:count]])
        widest = max(b - a for a, b in pairwise(known))
        assert widest <= 2 * np.ceil(last / count)


def test_a_procedure_that_asks_for_nothing_has_nothing_left():
    """An empty procedure proposes nothing."""

    def nothing() -> Steps:
        yield from ()

    assert replay(nothing(), []) is None
