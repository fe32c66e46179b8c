"""Which trials are trained longer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.promotion import FACTOR, Contender, Yardstick, lengths_of, places

YARDSTICK = Yardstick(float32_speed=100.0, noise=0.01, allowed=0.05)


@st.composite
def contenders(draw, least: int = 0, most: int = 12) -> list[Contender]:
    """Trials with speeds and losses that often tie."""
    figures = draw(
        st.lists(
            st.tuples(
                st.sampled_from([90.0, 100.0, 110.0, 120.0, 150.0, 200.0]),
                st.sampled_from([-0.1, 0.0, 0.005, 0.02, 0.05, 0.3]),
            ),
            min_size=least,
            max_size=most,
        )
    )
    return [Contender(number, *each) for number, each in enumerate(figures)]


def beats(one: Contender, other: Contender) -> bool:
    """Dominance written out anew: losses up to the noise are equal."""
    ours, theirs = max(one.quality_lost, 0.01), max(other.quality_lost, 0.01)
    better = one.speed > other.speed or ours < theirs
    return better and one.speed >= other.speed and ours <= theirs


@given(contenders())
def test_whoever_is_beaten_comes_later(trials: list[Contender]) -> None:
    """The ranking holds everyone that is faster than float32 once, and nobody before one who beats him."""
    ranked = YARDSTICK.ranked(trials)
    assert sorted(each.number for each in ranked) == [each.number for each in trials if each.speed > 100]
    for place, one in enumerate(ranked):
        assert not any(beats(later, one) for later in ranked[place + 1 :])


@given(contenders(least=1))
def test_what_would_be_chosen_now_goes_first(trials: list[Contender]) -> None:
    """First is the fastest that loses no more than allowed, where there is one that is faster than float32."""
    within = [each for each in trials if each.speed > 100 and each.quality_lost <= 0.05]
    ranked = YARDSTICK.ranked(trials)
    if within:
        assert ranked[0].speed == max(each.speed for each in within)


def test_places_are_spread_over_the_front() -> None:
    """After the one that would be chosen comes the one farthest from it, then what lies between."""
    figures = [(110.0, 0.0), (120.0, 0.02), (150.0, 0.04), (160.0, 0.2), (300.0, 0.9)]
    ranked = YARDSTICK.ranked([Contender(number, *each) for number, each in enumerate(figures)])
    assert [each.number for each in ranked][:2] == [2, 4]
    assert set(ranked[2:]) == {Contender(0, 110.0, 0.0), Contender(1, 120.0, 0.02), Contender(3, 160.0, 0.2)}


@given(contenders(), st.data())
def test_the_best_share_goes_on_and_nobody_twice(trials: list[Contender], data) -> None:
    """Taken one after the other, exactly the best third goes on."""
    gone_on: list[int] = []
    while (chosen := YARDSTICK.next_up(trials, gone_on)) is not None:
        gone_on.append(chosen.number)
    expected = YARDSTICK.ranked(trials)[: len(trials) // FACTOR]
    assert gone_on == [each.number for each in expected]


@given(contenders(most=7), contenders(most=8))
def test_the_hopeless_never_go_on(now: list[Contender], later: list[Contender]) -> None:
    """Whatever the rest of the planned trials come to, none that was called hopeless is among the best share."""
    everyone = [*now, *(Contender(len(now) + each.number, each.speed, each.quality_lost) for each in later)]
    hopeless = YARDSTICK.hopeless(now, planned=len(everyone))
    best = YARDSTICK.ranked(everyone)[: places(len(everyone))]
    assert not hopeless & {each.number for each in best}


def test_hopeless_is_who_is_beaten_by_as_many_as_there_are_places() -> None:
    """Of six planned trials two go on: whoever two others beat is out, and what is no faster than float32 too."""
    trials = [Contender(number, 110.0 + number, 0.0) for number in range(4)]
    assert YARDSTICK.hopeless(trials, planned=6) == {0, 1}
    assert YARDSTICK.hopeless([*trials, Contender(9, 100.0, -1.0)], planned=30) == {9}


@pytest.mark.parametrize(
    ("first", "rungs", "full", "lengths"),
    [(80, 1, 1600, (80,)), (80, 3, 1600, (80, 240, 720)), (100, 4, 800, (100, 300, 800)), (50, 6, 50, (50,))],
)
def test_lengths_grow_by_the_factor_up_to_the_whole(first, rungs, full, lengths) -> None:
    """Each length is three times the one before, and none is longer than a whole training."""
    assert lengths_of(first, rungs, full) == lengths
