"""Races on a made-up network: what counts, what is the goal, and what has to be trained."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import pytest
from zoo_books import book, network, outcome

from benchmarks.search.zoo.contest import MEDIAN_TARGET, OURS_ON_ALL, WORST_TARGET, zoo_figures, zoo_table
from benchmarks.search.zoo.course import Course
from benchmarks.search.zoo.outcomes import Trained, read_book
from benchmarks.search.zoo.race import Result, cap_of, race
from benchmarks.search.zoo.searchers import SEARCHERS, Entrant
from halfwise.search.propose.cost_model import Choices
from halfwise.search.propose.proposer import Tried
from halfwise.search.proposers import Knowledge


class Scripted:
    """Asks for what it is given, and keeps what it is told."""

    def __init__(self, asked: Sequence[Choices]) -> None:
        self._asked = list(asked)
        self.told: list[Tried] = []

    def ask(self) -> Choices | None:
        """The next of the list."""
        return self._asked.pop(0) if self._asked else None

    def tell(self, trial: Tried) -> None:
        """Keep it."""
        self.told.append(trial)

    def begin(self, known: Knowledge, seed: int) -> "Scripted":
        """Starts itself."""
        return self


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The network of three sites, one of them a hazard."""
    return Course(book(tmp_path), 1, outcome)


def test_trials_and_their_diagnoses_count_until_the_goal(course: Course):
    """Two failures with a step of diagnosis each, a slow policy, then the best one."""
    searcher = Scripted([(0, 0, 1), (1, 1, 1), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    result = race(course, Entrant(searcher.begin))
    assert (result.hazards, result.reached) == (1, pytest.approx(4 + 2 / 50))
    assert (result.beyond, result.beyond_twice) == (pytest.approx(3.04), pytest.approx(2.04))
    assert searcher.told == [
        Tried((0, 0, 1), None, frozenset({2})),
        Tried((1, 1, 1), None, frozenset({2})),
        Tried((1, 0, 0), 0.001),
    ]


def test_what_had_to_be_trained_is_in_the_book_then(course: Course, tmp_path: Path):
    """The first race trains all but the best policy, and a second one, from the file, nothing."""
    asked = [(0, 0, 1), (0, 0, 1), (1, 0, 0), (1, 1, 0)]
    first = race(course, Entrant(Scripted(asked).begin))
    assert course.trained == 2

    def never(choices: Choices) -> Trained:
        raise AssertionError(choices)

    again = Course(read_book(tmp_path / "three.jsonl.gz"), 1, never)
    assert race(again, Entrant(Scripted(asked).begin)) == first
    assert again.trained == 0


def test_what_is_too_slow_is_trained_for_those_alone_that_learn(course: Course):
    """A searcher that learns nothing is told nothing of float32; it counts all the same."""
    slow, fast = (0, 0, 0), (1, 1, 0)
    assert race(course, Entrant(Scripted([slow, slow, fast]).begin, learns=False)) == Result(1, 3)
    assert course.trained == 0
    assert race(course, Entrant(Scripted([slow, slow, fast]).begin)) == Result(1, 3)
    assert course.trained == 1


def test_a_search_that_finds_nothing_is_given_up(course: Course):
    """After 3 k + 12 counted trials, or with nothing left to try, the goal was not reached."""

    def after(slow: int, *then: Choices) -> Result:
        return race(course, Entrant(Scripted([*[(0, 1, 0)] * slow, *then]).begin))

    assert cap_of(1) == 15
    assert after(1) == Result(1, None)
    assert after(14, (1, 1, 0)).reached == 15
    late = after(15, (1, 1, 0))
    assert (late.reached, late.beyond, late.beyond_twice) == (None, inf, inf)


@pytest.mark.parametrize(
    ("share", "lost", "reached"),
    [(0.951, 0.0044, True), (0.949, 0.0, False), (1.0, 0.0046, False), (1.0, None, False), (1.1, -0.1, True)],
)
def test_the_goal_is_quality_within_what_is_allowed_and_nearly_the_best_speed(
    course: Course, share: float, lost: float | None, reached: bool
):
    """0.95 of the best trainable speed-up, four thirds, at a loss of up to half a percent of 0.9."""
    tried = Trained(choices=(1, 1, 1), speedup=share * 4 / 3, quality_lost=lost)
    assert course.reached(tried) == reached


@pytest.mark.parametrize("name", SEARCHERS)
def test_everybody_finds_the_goal_of_a_small_network(course: Course, name: str):
    """Each searcher reaches it within 15 counted trials, and does the same once more."""
    result = race(course, SEARCHERS[name])
    assert result.reached is not None
    assert race(course, SEARCHERS[name]) == result


def test_searchers_know_what_was_measured(course: Course):
    """Chances of harm go by site; noise and what may be lost are float32's."""
    known = course.known
    assert known.prior.chances == {
        (f"groups.{i}", "float16"): chance for i, chance in enumerate((0.01, 0.01, 0.02))
    }
    assert known.max_quality_lost == network().allowed
    assert known.noise == pytest.approx(0.0009)


def test_figures_and_table_are_median_and_worst():
    """By hand: beyond k 1, 3 and never; beyond 2k 0, 1 and never."""
    results = [Result(1, 2.0), Result(2, 5.0), Result(3, None)]
    median, worst = zoo_figures(results)
    assert (median.value, median.target, median.met) == (3, MEDIAN_TARGET, True)
    assert (worst.value, worst.target, worst.met) == (inf, WORST_TARGET, False)
    lines = zoo_table({OURS_ON_ALL: results, "other": results[:2]}).splitlines()
    assert lines[1].split()[-5:] == ["3", "2", "3.00", ">", "cap"]
    assert lines[2].split()[-4:] == ["2", "2", "2.00", "1.00"]
