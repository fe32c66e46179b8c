from pathlib import Path

import numpy as np
import pytest
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from halfwise.experiments.drawn_front import FrontPicture
from halfwise.experiments.figures import front_figure, save_front_figure
from halfwise.search.front import Direction, Point, pareto_front
from halfwise.search.noise import QualityLost

LEVELS = [("O0", 0.972, 1000.0), ("O1", 0.968, 1320.0), ("O2", 0.9715, 1480.0), ("O3", 0.941, 1690.0)]


def _picture(points: list[Point], direction: Direction = "maximize", bound: float | None = None) -> FrontPicture:
    front = pareto_front(points, direction)
    return FrontPicture(
        points=points,
        front=front,
        best=front[0] if front else None,
        baseline=points[0] if points else None,
        metric="accuracy",
        direction=direction,
        speed_label="measured on CPU",
        title="digits-001",
        quality_bound=bound,
    )


def _points() -> list[Point]:
    levels = [Point(i, name, f"level{i}", q, s) for i, (name, q, s) in enumerate(LEVELS)]
    others = [Point(4 + i, None, f"other{i}", 0.97 - 0.001 * i, 1000.0 + 20 * i) for i in range(10)]
    return [*levels, *others]


def _axes(figure: Figure) -> Axes:
    return figure.axes[0]


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in (*_axes(figure).texts, *figure.texts) if text.get_text()]


def test_every_feasible_trial_is_drawn_at_its_figures():
    """Each trial that trained stands at its speed and quality; infeasible ones are counted below."""
    points = [*_points(), Point(20, None, "bad", None, None, feasible=False, cause="non-finite at step 0")]
    figure = front_figure(_picture(points))
    drawn = {tuple(place) for c in _axes(figure).collections for place in np.asarray(c.get_offsets())}
    line = next(line for line in _axes(figure).get_lines() if line.get_label() == "front")
    drawn |= set(map(tuple, np.asarray(line.get_xydata())))
    assert drawn == {(p.speed, p.quality) for p in points if p.feasible}
    assert "14 of 15 trials trained; 1 did not and cannot be shown." in _texts(figure)


def test_axes_say_what_was_measured_where():
    """The axes carry the metric, its better direction, the unit and the kind of speed."""
    axes = _axes(front_figure(_picture(_points())))
    assert axes.get_xlabel() == "training speed: samples/s, measured on CPU (right is better)"
    assert axes.get_ylabel() == "accuracy (higher is better)"
    lower = _axes(front_figure(_picture(_points(), "minimize")))
    assert lower.get_ylabel() == "accuracy (lower is better)"


def test_levels_and_best_are_named():
    """The built-in levels carry their names, the best is marked, float32 says that it is float32."""
    texts = _texts(front_figure(_picture(_points())))
    assert {"O0 (float32)", "O1", "O2", "best: O3"} <= set(texts)


def test_labels_cover_neither_each_other_nor_leave_the_axes():
    """Labels of levels that lie close together are moved apart, inside the axes."""
    points = [Point(i, f"level-{i}", f"d{i}", 0.97 + 0.00001 * i, 1000.0 + i) for i in range(5)]
    points += [Point(9, None, "far", 0.5, 2000.0)]
    axes = _axes(front_figure(_picture(points)))
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
    assert len(boxes) == 6
    pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]]
    assert not any(a.overlaps(b) for a, b in pairs)
    inside = axes.get_window_extent()
    assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)


def test_a_policy_that_learned_nothing_does_not_flatten_the_others():
    """A quality far below the others is drawn at the edge and said, and the others keep their room."""
    figure = front_figure(_picture([*_points(), Point(30, None, "dud", 0.1, 1200.0)]))
    assert _axes(figure).get_ylim()[0] > 0.9
    assert any("triangles at the edge (1) stand for worse quality" in text for text in _texts(figure))


def test_a_loss_far_above_the_others_is_drawn_at_the_upper_edge():
    """Where less is better, the edge is the upper one."""
    points = [Point(i, None, f"d{i}", 1.7 + 0.01 * i, 100.0 + i) for i in range(9)]
    figure = front_figure(_picture([*points, Point(30, None, "dud", 4e6, 104.5)], "minimize"))
    assert _axes(figure).get_ylim()[1] < 2
    assert any("triangles at the edge (1)" in text for text in _texts(figure))


@pytest.mark.parametrize(("direction", "edges"), [("maximize", (0.965, 1)), ("minimize", (0, 0.985))])
def test_the_goal_is_right_of_float32_and_within_tolerance(direction: Direction, edges: tuple[float, float]):
    """The tinted corner begins at float32's speed and at the bound, and reaches to the better side."""
    bound = edges[0] if direction == "maximize" else edges[1]
    corner = next(iter(_axes(front_figure(_picture(_points(), direction, bound))).patches))
    low, high = corner.get_y(), corner.get_y() + corner.get_height()  # type: ignore[attr-defined]
    assert corner.get_x() == 1000.0  # type: ignore[attr-defined]
    assert (low if direction == "maximize" else high) == pytest.approx(bound)


@pytest.mark.parametrize("points", [[], [Point(0, "O0", "a", None, None, feasible=False, cause="crash")]])
def test_no_feasible_trial_is_said(points: list[Point]):
    """Without anything to draw, the figure says so."""
    assert "no policy trained" in _texts(front_figure(_picture(points)))


def test_equal_points_and_a_single_point_are_drawn():
    """Neither one trial nor several at the same place is an error."""
    same = [Point(i, None, f"d{i}", 0.9, 100.0) for i in range(3)]
    assert "3 of 3 trials trained." in _texts(front_figure(_picture(same, bound=0.9)))
    assert "1 of 1 trials trained." in _texts(front_figure(_picture(same[:1])))


def test_markup_in_names_stays_text(tmp_path: Path):
    """A name with dollar signs is no formula, and the picture is 1200 x 800 pixels."""
    path = tmp_path / "front.png"
    save_front_figure(_picture([Point(0, r"$\frac{<script>", "d", 0.9, 10.0)]), path)
    assert image.imread(path).shape[:2] == (800, 1200)


def test_what_is_not_confirmed_is_hollow_and_has_its_interval():
    """Points of the front are filled once confirmed, hollow before, with bars as wide as their intervals."""
    float32 = Point(0, "O0", "a", 0.97, 1000.0, quality_lost=QualityLost(0.0, 0.0))
    sure = Point(5, None, "b", 0.99, 1700.0, quality_lost=QualityLost(0.01, 0.004, 3, confirmed=True))
    unsure = Point(6, None, "c", 0.966, 1500.0, quality_lost=QualityLost(0.004, 0.006))
    figure = front_figure(_picture([float32, sure, unsure]))
    faces = {
        tuple(np.round(place, 6)): to_hex(np.asarray(c.get_facecolor())[0])
        for c in _axes(figure).collections
        if c.get_label() in ("confirmed", "not confirmed")
        for place in np.asarray(c.get_offsets())
    }
    # What was lost is drawn from float32's own quality: 0.97 - 0.01, though the trial itself reached 0.99.
    assert faces == {(1000.0, 0.97): "#0072b2", (1700.0, 0.96): "#0072b2", (1500.0, 0.966): "#ffffff"}
    bars = [bar for c in _axes(figure).containers for bar in c[2][0].get_segments()]
    assert sorted(tuple(bar[:, 1].round(6)) for bar in bars) == [(0.956, 0.964), (0.96, 0.972)]
    assert any("bars: 95% interval" in text for text in _texts(figure))


def test_a_loss_is_drawn_upwards_where_less_is_better():
    """For a metric that is minimised, what was lost lies above float32's quality."""
    float32 = Point(0, "O0", "a", 0.5, 1000.0, quality_lost=QualityLost(0.0, 0.0))
    worse = Point(5, None, "b", 0.6, 1700.0, quality_lost=QualityLost(0.1, 0.01))
    assert _picture([float32, worse], "minimize").place(worse) == (1700.0, pytest.approx(0.6))
