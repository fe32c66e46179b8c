"""When nothing could add to the front, and when nothing changes any more."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.search.front import Point, pareto_front
from halfwise.search.noisy_front import Resolution
from halfwise.search.propose import Border, CostModel, Site, Tried
from halfwise.search.propose.cost_model import Choices
from halfwise.search.settled import front_moved, settled

LOW = ("float32", "float16")
COSTS = CostModel(1.0, tuple(Site(name, LOW, (1.0, 0.4)) for name in "abc"))


def test_everything_low_settles_the_search() -> None:
    """Once the fastest policy of all lost no more than noise there is nothing left to find."""
    found = settled(COSTS, [Tried((0, 0, 0), 0.0), Tried((1, 1, 1), 0.004)], noise=0.01, max_quality_lost=0.05)
    assert found is not None
    assert (found.choices, found.everything) == ((1, 1, 1), True)


def test_a_loss_beyond_noise_settles_nothing() -> None:
    """A policy that loses more than noise, though it is allowed, may still be improved on in quality."""
    assert settled(COSTS, [Tried((1, 1, 1), 0.02)], noise=0.01, max_quality_lost=0.05) is None


def test_what_a_diagnosis_named_is_no_longer_hoped_for() -> None:
    """All low failed at b, so that all but b low is the best that is left, once it lost nothing."""
    failed = Tried((1, 1, 1), None, frozenset({1}))
    assert settled(COSTS, [failed, Tried((1, 0, 0), 0.0)], 0.01, 0.05) is None
    found = settled(COSTS, [failed, Tried((1, 0, 1), 0.0)], 0.01, 0.05)
    assert found is not None
    assert (found.choices, found.everything) == ((1, 0, 1), False)


def test_what_still_runs_speaks_against_nothing() -> None:
    """A faster policy that is pending may come out well."""
    assert settled(COSTS, [Tried((1, 1, 1), None, pending=True), Tried((1, 0, 1), 0.0)], 0.01, 0.05) is None


def test_float32_alone_settles_nothing() -> None:
    """Where nothing is faster than float32 the searcher itself says so."""
    slow = CostModel(1.0, (Site("a", LOW, (1.0, 2.0)),))
    assert settled(slow, [Tried((0,), 0.0), Tried((1,), 0.0)], 0.01, 0.05) is None


@st.composite
def histories(draw) -> tuple[CostModel, list[Tried]]:
    """A small cost model with borders, and trials of it that trained or failed with or without a name."""
    seconds = st.sampled_from([0.2, 0.5, 1.0, 1.5])
    sites = tuple(Site(name, LOW, (1.0, draw(seconds))) for name in "abcd")
    casts = st.sampled_from([0.0, 0.3])
    borders = tuple(Border(a, a + 1, ((0.0, draw(casts)), (draw(casts), 0.0))) for a in range(3))
    tried = {}
    for choices in draw(st.lists(st.tuples(*[st.integers(0, 1)] * 4), max_size=6, unique=True)):
        lost = draw(st.sampled_from([None, 0.0, 0.02, 0.3]))
        blamed = draw(st.sets(st.integers(0, 3), max_size=2)) if lost is None else set()
        tried[choices] = Tried(choices, lost, frozenset(blamed))
    return CostModel(0.5, sites, borders), list(tried.values())


@settings(max_examples=60)
@given(histories())
def test_settled_is_what_trying_every_policy_says(given_: tuple[CostModel, list[Tried]]) -> None:
    """By brute force: the fastest lossless trial, if no policy that nothing speaks against is faster."""
    costs, tried = given_

    def spoken_against(choices: tuple[int, ...]) -> bool:
        for trial in tried:
            if trial.quality_lost is not None and trial.quality_lost <= 0.05:
                continue
            named = [site for site in trial.blamed if trial.choices[site]]
            if trial.quality_lost is None and named:
                if all(choices[site] == trial.choices[site] for site in named):
                    return True
            elif choices == trial.choices:
                return True
        return False

    lossless = [each for each in tried if each.quality_lost == 0.0 and any(each.choices)]
    found = settled(costs, [Tried((0,) * 4, 0.0), *tried], noise=0.01, max_quality_lost=0.05)
    speeds: dict[Choices, float] = {c: costs.speedup(c) for c in product((0, 1), repeat=4)}
    left = max((speed for choices, speed in speeds.items() if not spoken_against(choices)), default=0.0)
    best = max((speeds[each.choices] for each in lossless), default=0.0)
    if found is not None:
        assert speeds[found.choices] == pytest.approx(best)
        assert left <= best + 1e-9
    elif best > 1 + 1e-9:
        assert left > best - 1e-9


def point(number: int, quality: float, speed: float) -> Point:
    """A point of a front."""
    return Point(number, None, str(number), quality, speed)


RESOLUTION = Resolution("maximize", quality_margin=0.01)


@pytest.mark.parametrize(
    ("new", "moved"),
    [
        (point(5, 0.905, 200.0), False),
        (point(5, 0.92, 200.0), True),
        (point(5, 0.80, 250.0), True),
        (point(5, 0.989, 100.0), False),
        (point(5, 0.95, 150.0), True),
        (point(5, 0.5, 90.0), False),
    ],
)
def test_a_front_moves_only_beyond_noise(new: Point, moved: bool) -> None:
    """A point counts that is faster than, or better beyond noise than, every point that was there, one by one."""
    before = (point(1, 0.9, 200.0), point(2, 0.98, 100.0))
    assert front_moved(before, (*before, new), RESOLUTION) is moved


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(50, 300)), min_size=1, max_size=6), st.randoms())
def test_losing_points_moves_no_front(figures, random) -> None:
    """A front of some of the same points has not moved."""
    front = pareto_front([point(number, *each) for number, each in enumerate(figures)], "maximize")
    fewer = [each for each in front if random.random() < 0.5]
    assert not front_moved(front, fewer, RESOLUTION)
    assert np.all([front_moved((), (each,), RESOLUTION) for each in front])
