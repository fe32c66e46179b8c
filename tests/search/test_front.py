import itertools
import math
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.errors import HalfwiseError
from halfwise.search.front import Direction, Point, hypervolume, pareto_front

DIRECTIONS = st.sampled_from(["maximize", "minimize"])
# A coarse grid, so that ties and duplicates are frequent.
FIGURES = st.integers(-4, 4).map(float)


def point(number: int, quality: float, speed: float, *, digest: str | None = None) -> Point:
    """A trial that trained."""
    return Point(number, None, digest or f"d{number}", quality, speed)


def broken(number: int, cause: str = "non-finite at step 0") -> Point:
    """A trial that did not."""
    return Point(number, None, f"d{number}", None, None, feasible=False, cause=cause)


@st.composite
def clouds(draw: st.DrawFn) -> list[Point]:
    """Up to twelve trials, some of them infeasible."""
    figures = draw(st.lists(st.tuples(FIGURES, FIGURES, st.booleans()), max_size=12))
    return [
        Point(number, None, f"d{number}", quality, speed, feasible=feasible, cause=None if feasible else "no")
        for number, (quality, speed, feasible) in enumerate(figures)
    ]


def beats(a: Point, b: Point, direction: Direction) -> bool:
    """Pareto dominance, written as the textbook has it."""
    assert a.quality is not None
    assert b.quality is not None
    assert a.speed is not None
    assert b.speed is not None
    sign = 1 if direction == "maximize" else -1
    no_worse = sign * a.quality >= sign * b.quality and a.speed >= b.speed
    return no_worse and (a.quality, a.speed) != (b.quality, b.speed)


@given(clouds(), DIRECTIONS)
def test_the_front_is_what_pairwise_comparison_leaves(points: list[Point], direction: Direction) -> None:
    """Exactly the feasible points that no feasible point dominates are on the front."""
    feasible = [p for p in points if p.feasible]
    expected = {p.number for p in feasible if not any(beats(q, p, direction) for q in feasible)}
    assert {p.number for p in pareto_front(points, direction)} == expected


@given(clouds(), DIRECTIONS, st.randoms(use_true_random=False))
def test_the_front_does_not_depend_on_the_order_of_the_trials(
    points: list[Point], direction: Direction, random: Random
) -> None:
    """A shuffled list gives the same front, fastest first, equal points by number."""
    front = pareto_front(points, direction)
    shuffled = list(points)
    random.shuffle(shuffled)
    assert pareto_front(shuffled, direction) == front
    keys = [(-(p.speed or 0.0), p.number) for p in front]
    assert keys == sorted(keys)


def test_trials_of_one_policy_with_one_score_stand_once() -> None:
    """Of a shared score only the first trial is shown; another policy with equal figures stays (case 28)."""
    points = [
        point(5, 0.9, 10, digest="a"),
        point(2, 0.9, 10, digest="a"),
        point(3, 0.9, 10, digest="b"),
        point(4, 0.9, 9, digest="a"),
    ]
    assert [p.number for p in pareto_front(points, "maximize")] == [2, 3]


def test_nothing_infeasible_is_on_the_front() -> None:
    """A trial that does not train is left out, even one with splendid figures (case 23)."""
    splendid = Point(1, None, "x", 1.0, 1e9, feasible=False, cause="loss never moved")
    assert pareto_front([splendid, broken(2), point(3, 0.5, 1)], "maximize") == (point(3, 0.5, 1),)
    assert pareto_front([splendid, broken(2)], "maximize") == ()
    assert pareto_front([], "minimize") == ()


def test_a_slower_low_precision_point_is_not_on_the_front() -> None:
    """Where float16 is slower and no better than float32, the front is float32 alone (case 22)."""
    float32 = Point(0, "O0", "a", 0.98, 100.0)
    float16 = Point(3, "O3", "b", 0.98, 60.0)
    assert pareto_front([float32, float16], "maximize") == (float32,)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("figure", ["quality", "speed"])
@pytest.mark.parametrize("feasible", [True, False])
def test_a_point_with_a_non_finite_figure_cannot_be_made(figure: str, value: float, feasible: bool) -> None:
    """NaN and infinity are refused, with the trial, the figure and the value named."""
    figures: dict[str, Any] = {"quality": 1.0, "speed": 1.0, figure: value}
    with pytest.raises(HalfwiseError, match=rf"trial 4: {figure} must be a finite number, but got {value}"):
        Point(4, None, "d", **figures, feasible=feasible)


def test_a_feasible_point_needs_both_figures() -> None:
    """A trial that trained has a quality and a speed."""
    with pytest.raises(HalfwiseError, match="trial 4 is feasible, so it must have a speed, but got None"):
        Point(4, None, "d", 1.0, None)


@given(clouds(), st.tuples(FIGURES, FIGURES), DIRECTIONS)
def test_hypervolume_counts_the_cells_of_a_grid(
    points: list[Point], reference: tuple[float, float], direction: Direction
) -> None:
    """With whole figures, the area is the number of unit cells that some point dominates."""
    sign = 1 if direction == "maximize" else -1
    better = [(sign * p.quality, p.speed) for p in points if p.feasible and p.quality is not None]
    cells = sum(
        any(x + 1 <= (q or 0) and y + 1 <= (s or 0) for q, s in better)
        for x, y in itertools.product(range(-5, 5), repeat=2)
        if x >= sign * reference[0] and y >= reference[1]
    )
    assert hypervolume(points, reference, direction) == cells


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1000)), max_size=5),
    st.tuples(st.floats(0, 1), st.floats(0, 1000)),
)
def test_hypervolume_is_the_inclusion_exclusion_of_boxes(
    figures: list[tuple[float, float]], reference: tuple[float, float]
) -> None:
    """For any figures, the area is that of a union of boxes."""
    points = [point(i, quality, speed) for i, (quality, speed) in enumerate(figures)]
    expected = 0.0
    for size in range(1, len(figures) + 1):
        for subset in itertools.combinations(figures, size):
            sides = [max(0.0, min(f[k] for f in subset) - reference[k]) for k in (0, 1)]
            expected += (-1) ** (size + 1) * sides[0] * sides[1]
    assert hypervolume(points, reference, "maximize") == pytest.approx(expected, abs=1e-9)


def test_hypervolume_refuses_a_reference_that_is_not_finite() -> None:
    """An infinite reference would make every front equally good."""
    with pytest.raises(HalfwiseError, match="two finite numbers"):
        hypervolume([], (0.0, -math.inf), "maximize")


def test_the_front_needs_no_optuna() -> None:
    """Reading a front starts fast: neither Optuna nor MindSpore nor MLflow is imported for it."""
    code = "import sys, halfwise.search.front, halfwise.search.choice; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert {"optuna", "mindspore", "mlflow"}.isdisjoint(modules.split())
