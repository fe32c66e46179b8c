"""What a study came to so far, worked out from its finished trials and written into its folder."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..policies import Policy, save_policy
from ..policies.errors import HalfwiseError
from ..policies.whole_file import written_aside
from ..search.choice import Best, Criteria
from ..search.front import Point
from ..search.noise import QualityLost
from ..search.noisy_front import noisy_front
from .drawn_front import picture_of
from .home import StudyFolder
from .paired import points_of, resolution_of
from .reasons import reasons_of
from .records import StudyInfo, StudySummary, TrialRecord
from .remarks import remarks_on
from .study_file import comparison_of, criteria_of

if TYPE_CHECKING:
    # pandas and matplotlib take longer to import than reading a whole study.
    import pandas as pd


def findings(info: StudyInfo, folder: StudyFolder, records: Sequence[TrialRecord]) -> StudySummary:
    """What the finished trials come to, in the order of their numbers; nothing is written."""
    records = sorted(records, key=lambda record: record.number)
    points = points_of(records, info, folder)
    criteria = criteria_of(info, points, records)
    base = criteria.baseline
    baseline = base if base is not None and base.quality is not None and base.speed is not None else None
    front = noisy_front(points, resolution_of(info, folder, baseline))
    best, reason = _choose(points, criteria)
    record = next((record for record in records if best and record.number == best.number), None)
    return StudySummary(
        points=tuple(points),
        front=front.points,
        baseline=baseline,
        best=best,
        reason=reason,
        best_policy=folder.best_policy if record else None,
        files=folder.shown,
        counts=Counter(record.outcome.status for record in records),
        confirmed=record and comparison_of(record),
        as_good_as=front.as_good_as,
        remarks=remarks_on(info, folder, records, points, front),
    )


def conclude(info: StudyInfo, folder: StudyFolder, records: Sequence[TrialRecord]) -> StudySummary:
    """Front, choice and the files that show them: front.csv, front.png, best-policy.yaml."""
    summary = findings(info, folder, records)
    save_table(info, summary, folder)
    from .figures import save_front_figure

    picture = picture_of(info, summary, criteria_of(info, summary.points, records))
    save_front_figure(picture, folder.front_figure)
    record = next((each for each in records if summary.best and each.number == summary.best.number), None)
    if record is not None and summary.best is not None:
        reasons = reasons_of(record.policy, folder, records)
        save_policy(annotated(info, record, summary.best, summary.reason, reasons), folder.best_policy)
    return summary


def annotated(
    info: StudyInfo, record: TrialRecord, point: Point, reason: str, reasons: Mapping[str, str]
) -> Policy:
    """The trial's policy with where it comes from and what was measured, for a file that people take away.

    `point` is the trial's own, `reasons` are those of its rules.
    """
    outcome = record.outcome
    results: dict[str, Any] = {
        "study": info.name,
        "trial": record.number,
        "chosen_because": reason,
        "metric": outcome.metric,
        "quality": outcome.quality,
        "speed_samples_per_s": point.speed,
        "speed_is": info.speed_label,
        "seed": outcome.seed,
        "steps": outcome.steps,
    }
    if point.quality_lost is not None:
        results["quality_lost"] = lost_fields(point.quality_lost)
    if (comparison := comparison_of(record) or outcome.against_float32) is not None:
        results["against_float32"] = str(comparison)
    made_for = {"workload": info.workload, "device": info.device, "versions": dict(info.versions)}
    asked = outcome.evidence.asked_hash if outcome.evidence else None
    return record.policy.replace(results=results, made_for=made_for, asked_hash=asked, reasons=reasons)


def lost_fields(lost: QualityLost) -> dict[str, Any]:
    """What was lost against float32 with its 95% interval, for files: positive is worse, in the metric's unit."""
    return {
        "mean": lost.mean,
        "low": lost.low,
        "high": lost.high,
        "seeds": lost.seeds,
        "confirmed": lost.confirmed,
    }


def front_frame(info: StudyInfo, summary: StudySummary) -> "pd.DataFrame":
    """One row a trial, in the order of trials: figures, place on the front, ratio to float32, cause.

    `ratio_low` and `ratio_high` bound the ratio, and `conclusive` says whether they are near enough, where it was
    measured side by side. `quality_lost` is against float32 on the same seeds and batches, positive is worse, with
    its 95% interval; `confirmed`: from fresh seeds and a longer training. `as_good_as` is the faster trial of the
    front that noise cannot tell from this one.
    """
    import pandas as pd

    points = summary.points
    intervals = [point.against_float32 for point in points]
    lost = [point.quality_lost for point in points]
    on_front = {point.number for point in summary.front}
    return pd.DataFrame(
        {
            "trial": [point.number for point in points],
            "policy": [point.name or point.digest for point in points],
            info.metric: [point.quality for point in points],
            "quality_lost": [each and each.mean for each in lost],
            "quality_lost_low": [each and each.low for each in lost],
            "quality_lost_high": [each and each.high for each in lost],
            "seeds": pd.array([each and each.seeds for each in lost], dtype="Int64"),
            "confirmed": [each and each.confirmed for each in lost],
            "samples_per_s": [point.speed for point in points],
            "against_float32": [speed_ratio(point, summary.baseline) for point in points],
            "ratio_low": [each and each.low for each in intervals],
            "ratio_high": [each and each.high for each in intervals],
            "conclusive": [each and each.conclusive for each in intervals],
            "on_front": [point.number in on_front for point in points],
            "as_good_as": pd.array([summary.as_good_as.get(point.number) for point in points], dtype="Int64"),
            "cause": [point.cause for point in points],
        }
    )


def save_table(info: StudyInfo, summary: StudySummary, folder: StudyFolder) -> None:
    """Write front.csv.

    Raises:
        NotWritten: the file cannot be written.
    """
    with written_aside(folder.front_table) as aside:
        front_frame(info, summary).to_csv(aside, index=False)


def speed_ratio(point: Point, baseline: Point | None) -> float | None:
    """The point's speed over float32's, or None where one of them was not measured."""
    if not point.feasible or point.speed is None or baseline is None or not baseline.speed:
        return None
    return point.speed / baseline.speed


def _choose(points: Sequence[Point], criteria: Criteria) -> tuple[Point | None, str]:
    try:
        choice = Best().choose(points, criteria)
    except HalfwiseError as error:
        return None, str(error)
    return choice.point, choice.reason
