"""Which trials of a study stand where in the picture of its front."""

from collections.abc import Sequence

from ...search.front import Point
from ..conclusion import speed_ratio
from ..records import StudyInfo, StudySummary, TrialRecord
from ..study_file import BASELINE
from .front_picture import Fallen, FrontPicture, Spot, front_picture


def front_of(info: StudyInfo, found: StudySummary, records: Sequence[TrialRecord]) -> FrontPicture | None:
    """None where no trial trains, or float32 has no figures to hold others against."""
    base = found.baseline
    if base is None or not base.quality:
        return None
    spots = [spot for point in found.points if (spot := _spot(point, found, abs(base.quality))) is not None]
    outcomes = {record.number: record for record in records}
    fallen = [
        Fallen(point.number, _unmet_speed(outcomes[point.number], outcomes.get(base.number)), _cause(point))
        for point in found.points
        if not point.feasible
    ]
    return front_picture(spots, fallen, info.tolerance) if spots else None


def _spot(point: Point, found: StudySummary, unit: float) -> Spot | None:
    ratio = speed_ratio(point, found.baseline)
    if ratio is None or (point.quality_lost is None and point.name != BASELINE):
        return None
    lost, bounds = point.quality_lost if point.name != BASELINE else None, point.against_float32
    is_best = found.best is not None and point.number == found.best.number
    held = f"lost {lost}" if lost else "what others are held against"
    return Spot(
        number=point.number,
        kind="best" if is_best else "front" if point in found.front else "other",
        name="float32 (O0)" if point.name == BASELINE else point.name or ("chosen" if is_best else ""),
        speed=ratio,
        speed_low=bounds and bounds.low,
        speed_high=bounds and bounds.high,
        lost=lost.mean / unit if lost else 0.0,
        lost_low=lost.low / unit if lost and lost.low is not None else None,
        lost_high=lost.high / unit if lost and lost.high is not None else None,
        words=f"{point.label}: {ratio:.2f}x float32's speed, {held}",
    )


def _unmet_speed(record: TrialRecord, float32: TrialRecord | None) -> float | None:
    """What its step would be worth over float32's, if it trained; known only by price."""
    mine, theirs = record.outcome.priced, float32 and float32.outcome.priced
    if mine is None or theirs is None or mine.device != theirs.device:
        return None
    return theirs.step_time_s / mine.step_time_s


def _cause(point: Point) -> str:
    return f"{point.label} has no place by quality: {point.cause or 'no cause given'}"
