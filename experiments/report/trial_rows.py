"""The trials of a study as rows of a report's table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...search.front import Point
from ..conclusion import speed_ratio
from ..records import StudySummary, TrialRecord
from ..study_file import BASELINE

# Letters of a policy that the page holds; the rest stands in the trial's folder.
_POLICY_LETTERS = 4000


@dataclass(frozen=True)
class TrialRow:
    """One trial in the table of all; figures as text, and as numbers to sort by (None where there is none)."""

    number: int
    name: str
    status: str
    quality: float | None
    lost: float | None
    lost_words: str
    speed: float | None
    ratio: float | None
    place: str
    cause: str
    words: str
    policy: str


def trial_rows(records: Sequence[TrialRecord], found: StudySummary) -> tuple[TrialRow, ...]:
    """One row a trial, in their order."""
    points = {point.number: point for point in found.points}
    return tuple(_row(record, points[record.number], found) for record in records)


def by_cause(rows: Sequence[TrialRow]) -> Mapping[str, tuple[TrialRow, ...]]:
    """The trials that came to nothing, by why; the commonest cause first."""
    causes = dict.fromkeys(row.cause or "no cause given" for row in rows)
    groups = {cause: tuple(row for row in rows if (row.cause or "no cause given") == cause) for cause in causes}
    return dict(sorted(groups.items(), key=lambda each: -len(each[1])))


def trial_name(record: TrialRecord) -> str:
    """Such as "003 O2": the number, and the name or the beginning of the digest."""
    return f"{record.number:03d} {record.name or record.policy.digest[:8]}"


def _row(record: TrialRecord, point: Point, found: StudySummary) -> TrialRow:
    outcome, ratio = record.outcome, speed_ratio(point, found.baseline)
    lost = point.quality_lost if point.name != BASELINE else None
    place = outcome.first_non_finite
    cause = (point.cause or "") + (f"; first at {place}" if place else "")
    figures = [
        f"{outcome.metric} {outcome.quality:.5g}" if outcome.quality is not None else "",
        f"lost {lost}" if lost else "",
        f"{ratio:.2f}x float32's speed" if ratio is not None else "",
        cause,
    ]
    text = str(record.policy)
    rest = " … (the whole is in the trial's policy.yaml)" if len(text) > _POLICY_LETTERS else ""
    return TrialRow(
        number=record.number,
        name=trial_name(record),
        status=outcome.status if point.feasible or outcome.status != "trained" else "infeasible",
        quality=outcome.quality,
        lost=lost and lost.mean,
        lost_words=lost.short if lost else "",
        # One without an applied update has no speed at training.
        speed=point.speed or None,
        ratio=ratio,
        place=_place(point, found),
        cause=cause,
        words="; ".join(filter(None, figures)),
        policy=text[:_POLICY_LETTERS] + rest,
    )


def _place(point: Point, found: StudySummary) -> str:
    words = ["chosen"] if found.best is not None and point.number == found.best.number else []
    words += ["on the front"] if point in found.front else []
    words += [f"as good as {found.as_good_as[point.number]}"] if point.number in found.as_good_as else []
    words += ["confirmed"] if point.confirmed else []
    return ", ".join(words)
