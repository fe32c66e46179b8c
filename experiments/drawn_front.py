"""What a drawing of the front shows, whatever it is drawn with: where each policy stands, and how far it goes."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..evaluators.outcome import Direction
from ..search.choice import Criteria
from ..search.front import Point, measured, merit
from .records import StudyInfo, StudySummary

# A quality this many times as far from the median as the worse quartile is drawn at the edge: one policy that
# learned nothing would flatten all the others into a line.
_FAR_OFF = 6.0


@dataclass(frozen=True)
class FrontPicture:
    """What a front figure shows.

    `points` are all trials, infeasible ones included (they are counted in a footnote); `quality_bound` is the
    worst quality within the tolerance of float32's; `speed_label` is the kind of speed, such as "measured on
    CPU". `baseline`, `best` and `quality_bound` may be None: they are left out then. What was lost against float32
    is drawn as a difference to the quality of the `baseline`, whichever seeds and lengths it comes from.
    """

    points: Sequence[Point]
    front: Sequence[Point]
    best: Point | None
    baseline: Point | None
    metric: str
    direction: Direction
    speed_label: str
    title: str = ""
    quality_bound: float | None = None

    @property
    def feasible(self) -> list[Point]:
        """The trials that can be drawn."""
        return [point for point in self.points if point.feasible]

    @property
    def edge(self) -> float:
        """The quality at which worse ones are drawn; needs a feasible trial."""
        worths = sorted(merit(self.quality(point), self.direction) for point in self.feasible)
        middle, lower = statistics.median(worths), worths[len(worths) // 4]
        kept = [value for value in worths if value >= middle - _FAR_OFF * (middle - lower)] or worths
        must = [self.quality(each) for each in (self.best, self.baseline) if each is not None and each.feasible]
        must += [] if self.quality_bound is None else [self.quality_bound]
        return merit(min([kept[0], *(merit(quality, self.direction) for quality in must)]), self.direction)

    def place(self, point: Point) -> tuple[float, float]:
        """Where a feasible point is drawn: speed and quality, or a little outside the edge if it is worse."""
        speed = measured(point)[1]
        if not self.beyond(point):
            return speed, self.quality(point)
        span = max(abs(self.quality(each) - self.edge) for each in self.feasible if not self.beyond(each))
        return speed, merit(merit(self.edge, self.direction) - 0.08 * span, self.direction)

    def beyond(self, point: Point) -> bool:
        """Whether a feasible point is worse than the edge."""
        return merit(self.quality(point), self.direction) < merit(self.edge, self.direction)

    def is_sure(self, point: Point) -> bool:
        """Whether nothing is left to confirm: it was confirmed, is float32, or its loss is not known."""
        return point.confirmed or point.quality_lost is None or point == self.baseline

    def quality(self, point: Point) -> float:
        """The quality that a feasible point is drawn with."""
        lost, float32 = point.quality_lost, self.baseline
        if lost is None or float32 is None or float32.quality is None:
            return measured(point)[0]
        return float32.quality - merit(lost.mean, self.direction)


def picture_of(info: StudyInfo, summary: StudySummary, criteria: Criteria) -> FrontPicture:
    """The front of a study; the criteria give the worst quality that counts."""
    baseline = summary.baseline
    bound = None if baseline is None or baseline.quality is None else criteria.bound(baseline.quality)
    return FrontPicture(
        points=summary.points,
        front=summary.front,
        best=summary.best,
        baseline=baseline,
        metric=info.metric,
        direction=info.direction,
        speed_label=info.speed_label,
        title=info.title,
        quality_bound=bound,
    )
