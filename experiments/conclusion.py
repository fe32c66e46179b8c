"""What a study came to so far, worked out from its finished trials and written into its folder."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..policies import Policy, save_policy
from ..policies.errors import HalfwiseError
from ..search.choice import Best, Criteria
from ..search.front import Point, pareto_front
from .figures import FrontPicture, save_front_figure
from .home import StudyFolder
from .reasons import reasons_of
from .records import StudyInfo, StudySummary, TrialRecord
from .study_file import comparison_of, criteria_of, point_of


def conclude(info: StudyInfo, folder: StudyFolder, records: Sequence[TrialRecord]) -> StudySummary:
    """Front, choice and the files that show them: front.csv, front.png, best-policy.yaml."""
    points = [point_of(record, info) for record in records]
    criteria = criteria_of(info, points, records)
    front = pareto_front(points, info.direction)
    best, reason = _choose(points, criteria)
    save_table(info, points, front, folder)
    _save_figure(info, points, front, best, criteria, folder)
    record = next((record for record in records if best and record.number == best.number), None)
    if record is not None:
        save_policy(
            annotated(info, record, reason, reasons_of(record.policy, folder, records)), folder.best_policy
        )
    return StudySummary(
        points=tuple(points),
        front=front,
        baseline=criteria.baseline,
        best=best,
        reason=reason,
        best_policy=folder.best_policy if record else None,
        files=(folder.front_table, folder.front_figure),
        counts=Counter(record.outcome.status for record in records),
        confirmed=record and comparison_of(record),
    )


def annotated(info: StudyInfo, record: TrialRecord, reason: str, reasons: Mapping[str, str]) -> Policy:
    """The trial's policy with where it comes from and what was measured, for a file that people take away.

    `reasons` are those of its rules.
    """
    outcome, point = record.outcome, point_of(record, info)
    results: dict[str, Any] = {
        "study": info.name,
        "trial": record.number,
        "chosen_because": reason,
        "metric": outcome.metric,
        "quality": outcome.quality,
        "speed_samples_per_s": point.speed,
        "speed_is": info.speed_label,
        "seed": outcome.seed,
        "steps": len(outcome.losses),
    }
    if (comparison := comparison_of(record) or outcome.against_float32) is not None:
        results["against_float32"] = str(comparison)
    made_for = {"workload": info.workload, "device": info.device, "versions": dict(info.versions)}
    asked = outcome.evidence.asked_hash if outcome.evidence else None
    return record.policy.replace(results=results, made_for=made_for, asked_hash=asked, reasons=reasons)


def front_frame(info: StudyInfo, points: Sequence[Point], front: Sequence[Point]) -> pd.DataFrame:
    """One row a trial, in the order of trials: figures, place on the front, ratio to float32, cause.

    `ratio_low` and `ratio_high` bound the ratio, and `conclusive` says whether they are near enough, where it was
    measured side by side.
    """
    intervals = [point.against_float32 for point in points]
    baseline = criteria_of(info, points).baseline
    on_front = {point.number for point in front}
    return pd.DataFrame(
        {
            "trial": [point.number for point in points],
            "policy": [point.name or point.digest for point in points],
            info.metric: [point.quality for point in points],
            "samples_per_s": [point.speed for point in points],
            "against_float32": [speed_ratio(point, baseline) for point in points],
            "ratio_low": [each and each.low for each in intervals],
            "ratio_high": [each and each.high for each in intervals],
            "conclusive": [each and each.conclusive for each in intervals],
            "on_front": [point.number in on_front for point in points],
            "cause": [point.cause for point in points],
        }
    )


def save_table(info: StudyInfo, points: Sequence[Point], front: Sequence[Point], folder: StudyFolder) -> None:
    """Write front.csv."""
    front_frame(info, points, front).to_csv(folder.front_table, index=False)


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


def _save_figure(
    info: StudyInfo,
    points: Sequence[Point],
    front: Sequence[Point],
    best: Point | None,
    criteria: Criteria,
    folder: StudyFolder,
) -> None:
    baseline = criteria.baseline
    bound = None if baseline is None or baseline.quality is None else criteria.bound(baseline.quality)
    picture = FrontPicture(
        points=points,
        front=front,
        best=best,
        baseline=baseline,
        metric=info.metric,
        direction=info.direction,
        speed_label=info.speed_label,
        title=info.title,
        quality_bound=bound,
    )
    save_front_figure(picture, folder.front_figure)
