import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.front import Direction, Interval, Point, pareto_front, worth
from halfwise.search.noise import QualityLost
from halfwise.search.noisy_front import NoisyFront, Resolution, noisy_front

DIRECTIONS = st.sampled_from(["maximize", "minimize"])
# A coarse grid, so that ties are frequent; margins fall between its points and onto them.
FIGURES = st.integers(-6, 6).map(float)
MARGINS = st.sampled_from([0.0, 1.0, 1.5, 3.0, 20.0])
RESOLUTIONS = st.builds(Resolution, DIRECTIONS, MARGINS)


def point(number: int, quality: float, speed: float) -> Point:
    """A trial that trained."""
    return Point(number, None, f"d{number}", quality, speed)


def between(point: Point, low: float, high: float) -> Point:
    """The same point with a speed that was measured to lie between these multiples of float32's."""
    return replace(point, against_float32=Interval(low, high, conclusive=True))


@st.composite
def clouds(draw: st.DrawFn, measured: bool = False) -> list[Point]:
    """Up to ten trials, some infeasible; measured ones with intervals around their speeds (float32 does 10)."""
    figures = draw(st.lists(st.tuples(FIGURES, st.integers(1, 12), st.booleans()), max_size=10))
    points = [
        Point(n, None, f"d{n}", quality, float(speed), feasible=feasible, cause=None if feasible else "no")
        for n, (quality, speed, feasible) in enumerate(figures)
    ]
    if not measured:
        return points
    widths = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=10, max_size=10))
    return [
        between(p, ((p.speed or 0) - low) / 10, ((p.speed or 0) + high) / 10)
        for p, (low, high) in zip(points, widths, strict=False)
    ]


def by_brute_force(points: list[Point], direction: Direction, margin: float) -> set[int]:
    """For exact speeds: the greedy cover of the Pareto front, from its fastest end, by the definition."""
    sign = 1 if direction == "maximize" else -1
    left = {(p.speed or 0, sign * (p.quality or 0), -p.number) for p in points if p.feasible}
    front: set[int] = set()
    best = -math.inf
    while left:
        fastest = max(left)
        front.add(-fastest[2])
        best = fastest[1]
        left = {each for each in left if each[1] > best + margin}
    return front


@given(clouds(), RESOLUTIONS)
def test_with_exact_speeds_it_is_the_greedy_cover_of_the_front(
    points: list[Point], resolution: Resolution
) -> None:
    """Take the fastest, drop what is not better beyond noise, go on: that is the front, to the point."""
    found = noisy_front(points, resolution)
    assert set(found.numbers) == by_brute_force(points, resolution.direction, resolution.quality_margin)


@given(clouds(measured=True), RESOLUTIONS)
def test_something_that_trains_leaves_a_front(points: list[Point], resolution: Resolution) -> None:
    """The front is empty only if nothing trains, and holds nothing that another trial beats beyond noise."""
    for each in (resolution, replace(resolution, float32_speed=10.0)):
        front = noisy_front(points, each)
        assert bool(front.points) == any(p.feasible for p in points)
        feasible = [p for p in points if p.feasible]
        assert not any(each.beats(other, kept) for other in feasible for kept in front.points)


@given(clouds(), RESOLUTIONS)
def test_both_ends_of_the_plain_front_stay(points: list[Point], resolution: Resolution) -> None:
    """The fastest trial is on the front; the best quality is on it too, or a faster one stands for it."""
    plain, front = pareto_front(points, resolution.direction), noisy_front(points, resolution)
    if plain:
        assert front.points[0] == plain[0]
        best = plain[-1]
        stands = front.as_good_as.get(best.number, best.number)
        assert stands in front.numbers
        representative = next(p for p in front.points if p.number == stands)
        assert (representative.speed or 0) >= (best.speed or 0)
        assert not resolution.better(best, representative)


@given(clouds(measured=True), RESOLUTIONS, st.randoms(use_true_random=False))
def test_the_order_of_trials_does_not_matter(points: list[Point], resolution: Resolution, random: Random) -> None:
    """Shuffled trials give the same front, and the same trials that it stands for."""
    shuffled = list(points)
    random.shuffle(shuffled)
    resolution = replace(resolution, float32_speed=10.0)
    assert noisy_front(shuffled, resolution) == noisy_front(points, resolution)


@given(clouds(measured=True), RESOLUTIONS, st.data())
def test_a_clearly_dominated_trial_changes_nothing(
    points: list[Point], resolution: Resolution, data: st.DataObject
) -> None:
    """A trial that is surely slower than another and worse beyond noise neither joins the front nor thins it."""
    resolution = replace(resolution, float32_speed=10.0)
    feasible = [p for p in points if p.feasible]
    if not feasible:
        return
    better = data.draw(st.sampled_from(feasible))
    assert better.against_float32 is not None
    worse = worth(better, resolution.direction) - resolution.quality_margin - data.draw(st.integers(1, 5))
    quality = worse if resolution.direction == "maximize" else -worse
    high = better.against_float32.low - data.draw(st.integers(1, 5)) / 10
    added = between(point(99, quality, high * 10), high - 0.3, high)
    assert noisy_front([*points, added], resolution) == noisy_front(points, resolution)


@given(clouds(), DIRECTIONS)
def test_without_noise_it_is_the_pareto_front(points: list[Point], direction: Direction) -> None:
    """With a margin of 0 and exact speeds both give the same figures; of equal points the earliest stands."""
    plain = pareto_front(points, direction)
    front = noisy_front(points, Resolution(direction))
    assert [(p.quality, p.speed) for p in front.points] == list(dict.fromkeys((p.quality, p.speed) for p in plain))


@given(clouds(measured=True), RESOLUTIONS)
def test_who_is_as_good_cannot_be_told_apart(points: list[Point], resolution: Resolution) -> None:
    """A trial that another stands for is off the front, no faster, and neither better nor worse beyond noise."""
    resolution = replace(resolution, float32_speed=10.0)
    front = noisy_front(points, resolution)
    by_number = {p.number: p for p in points}
    for number, stands in front.as_good_as.items():
        one, other = by_number[number], by_number[stands]
        assert other in front.points
        assert one not in front.points
        assert (one.speed or 0) <= (other.speed or 0)
        assert not resolution.better(one, other)
        assert not resolution.better(other, one)


def test_of_equal_speeds_the_confirmed_one_stands_for_the_others() -> None:
    """Within noise it is on the front; one that is better beyond noise takes its place all the same."""
    confirmed = replace(point(2, 0.97, 150.0), quality_lost=QualityLost(0.001, 0.006, 3, confirmed=True))
    lucky = replace(point(5, 0.97, 150.0), quality_lost=QualityLost(-0.002, 0.017))
    assert noisy_front([lucky, confirmed], Resolution("maximize", 0.017)) == NoisyFront((confirmed,), {5: 2})
    assert noisy_front([lucky, confirmed], Resolution("maximize", 0.002)) == NoisyFront((lucky,))


def test_noise_that_adds_up_does_not_empty_the_front() -> None:
    """In a row of neighbours that noise cannot tell apart, each that is better than the last beyond it stays."""
    row = [point(n, 0.1 * n, 10.0 - n) for n in range(8)]
    front = noisy_front(row, Resolution("maximize", 0.25))
    assert front == NoisyFront((row[0], row[3], row[6]), {1: 0, 2: 0, 4: 3, 5: 3, 7: 6})


def test_a_measured_speed_counts_beyond_its_interval_only() -> None:
    """A better policy takes the place of one that is not surely faster; one that surely is stays."""
    good = between(point(1, 0.95, 11.0), 1.0, 1.2)
    unsure, sure = between(point(2, 0.9, 12.0), 1.1, 1.3), between(point(3, 0.9, 14.0), 1.3, 1.5)
    resolution = Resolution("maximize", 0.01, float32_speed=10.0)
    assert noisy_front([good, unsure], resolution).numbers == (1,)
    assert noisy_front([good, sure], resolution).numbers == (3, 1)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_what_was_lost_against_float32_decides(direction: Direction) -> None:
    """Where the difference to float32 is known it ranks the trials, whatever their own qualities are."""
    lucky = replace(point(1, 0.99, 20.0), quality_lost=QualityLost(0.2, 0.01, 3, confirmed=True))
    steady = replace(point(2, 0.5, 10.0), quality_lost=QualityLost(0.0, 0.01, 3, confirmed=True))
    assert noisy_front([lucky, steady], Resolution(direction, 0.1)).numbers == (1, 2)
    assert noisy_front([lucky, steady], Resolution(direction, 0.3)) == NoisyFront((lucky,), {2: 1})
