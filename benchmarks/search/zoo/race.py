"""After how many counted trials searchers reach the goal of a zoo network."""

from dataclasses import dataclass
from math import inf

from halfwise.search.propose.proposer import Tried

from .course import Course
from .searchers import Entrant


@dataclass(frozen=True, slots=True)
class Result:
    """One search: how many hazards were planted, and the counted trials to the goal, None if not reached."""

    hazards: int
    reached: float | None

    @property
    def beyond(self) -> float:
        """Counted trials beyond the hazards; infinite where the goal was not reached."""
        return inf if self.reached is None else self.reached - self.hazards

    @property
    def beyond_twice(self) -> float:
        """Counted trials beyond twice the hazards; infinite where the goal was not reached."""
        return inf if self.reached is None else self.reached - 2 * self.hazards


def cap_of(hazards: int) -> int:
    """The counted trials after which a search is given up."""
    return 3 * hazards + 12


def race(course: Course, entrant: Entrant, seed: int = 0) -> Result:
    """Let a searcher try policies until it reaches the goal, has tried too many, or has nothing left to try.

    What is surely too slow is trained for those alone that learn from it; else it counts 1, without a diagnosis.
    """
    searcher = entrant.begin(course.known, seed)
    counted = 0.0
    while counted < cap_of(course.hazards) and (choices := searcher.ask()) is not None:
        if not entrant.learns and course.too_slow(choices):
            counted += 1
            searcher.tell(Tried(choices, None))
            continue
        outcome = course.outcome(choices)
        counted += course.counted(outcome)
        if counted <= cap_of(course.hazards) and course.reached(outcome):
            return Result(course.hazards, counted)
        searcher.tell(Tried(choices, outcome.quality_lost, frozenset(outcome.blamed)))
    return Result(course.hazards, None)
