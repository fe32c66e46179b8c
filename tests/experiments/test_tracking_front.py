"""What MLflow's run list shows of trials once the front is known."""

from pathlib import Path

import pytest
from finished_study import study_info
from hypothesis import given
from hypothesis import strategies as st

from halfwise.experiments.home import StudyFolder
from halfwise.experiments.records import StudySummary
from halfwise.experiments.tracking_front import hypervolume_by_trial, rank_tags, run_name
from halfwise.search.front import Point
from halfwise.search.noise import QualityLost

FLOAT32 = Point(0, "O0", "a" * 12, 0.8, 100.0, quality_lost=QualityLost(0.0))
INFO = study_info(StudyFolder(Path("/s")))


def trial(number: int, speed: float, lost: float, name: str | None = None) -> Point:
    """A trial that trains, `lost` in the metric's unit."""
    return Point(number, name, "0123456789ab", 0.8 - lost, speed, quality_lost=QualityLost(lost))


def broken(number: int) -> Point:
    """One that does not."""
    return Point(number, "O3", "c" * 12, None, None, feasible=False, cause="non-finite at step 0")


def summary(*points: Point, front: tuple[Point, ...] = (), **changes) -> StudySummary:
    """A study of float32 and these."""
    return StudySummary((FLOAT32, *points), front, FLOAT32, None, "", **changes)


@pytest.mark.parametrize(
    ("point", "name"),
    [
        (FLOAT32, "000 O0"),
        (trial(12, 190.0, 0.0024, "O2"), "012 O2 1.90x -0.3%"),
        (trial(7, 99.0, -0.004), "007 01234567 0.99x +0.5%"),
        (trial(7, 150.0, 0.00001), "007 01234567 1.50x +0.0%"),
        (broken(13), "013 O3 non-finite at step 0"),
    ],
)
def test_a_run_is_named_by_what_became_of_it(point: Point, name: str):
    """Number, policy, speed and change in quality against float32's; or why it does not train."""
    assert run_name(point, summary(point)) == name


def test_a_trial_knows_its_place():
    """Its rank on the front, the trial that stands for it, and whether it is the choice."""
    first, second, equal = trial(1, 200.0, 0.01), trial(2, 150.0, 0.0), trial(3, 140.0, 0.0)
    found = summary(first, second, equal, front=(first, second), as_good_as={3: 2})
    assert rank_tags(second, found)["halfwise.front_rank"] == "2"
    assert rank_tags(equal, found) == {
        "halfwise.front_rank": "no",
        "halfwise.as_good_as": "002",
        "halfwise.chosen": "no",
    }


def test_the_area_grows_with_what_is_found():
    """By hand: 1% tolerance, so losses count below 10%; slower, worse and broken trials add nothing."""
    good, better = trial(1, 150.0, 0.04), trial(3, 200.0, 0.06)
    found = summary(good, broken(2), better, trial(4, 90.0, 0.0), trial(5, 300.0, 0.2))
    areas = {metric.step: metric.value for metric in hypervolume_by_trial(found, INFO)}
    # 0.5 x (10% - 5%), then another 0.5 x (10% - 7.5%).
    assert areas == pytest.approx({0: 0.0, 1: 0.025, 2: 0.025, 3: 0.0375, 4: 0.0375, 5: 0.0375})


@given(st.lists(st.tuples(st.floats(1, 1000), st.floats(-0.5, 0.5)), max_size=8))
def test_the_area_never_shrinks(figures: list[tuple[float, float]]):
    """Whatever is tried next, what was covered stays covered."""
    points = [trial(number, speed, lost) for number, (speed, lost) in enumerate(figures, start=1)]
    areas = [metric.value for metric in hypervolume_by_trial(summary(*points), INFO)]
    assert areas == sorted(areas)
    assert len(areas) == len(points) + 1


def test_without_float32_there_is_no_area():
    """Nothing can be held against a float32 that does not train."""
    assert hypervolume_by_trial(StudySummary((broken(0),), (), None, None, ""), INFO) == []
