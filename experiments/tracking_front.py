"""What MLflow shows of a study once its front is known: names and ranks of trials, the hypervolume by trial."""

from ..search.front import Point
from ..search.hypervolume import Place, anytime_hypervolume
from .conclusion import speed_ratio
from .records import StudyInfo, StudySummary
from .study_file import BASELINE
from .tracking_fields import MetricValue

HYPERVOLUME = "hypervolume"
# Losses beyond so many tolerances cover nothing: the reference must not hang on what happens to be tried.
_TOLERANCES = 10


def run_name(point: Point, summary: StudySummary) -> str:
    """How the run list names a trial: `012 O2 1.90x -0.3%`: speed and change in quality against float32's.

    A trial that does not train has its cause instead: `013 O3 non-finite at step 0`.
    """
    name = f"{point.number:03d} {point.name or point.digest[:8]}"
    if not point.feasible:
        return f"{name} {point.cause or 'does not train'}"
    if point.name == BASELINE:
        return name
    ratio, lost = speed_ratio(point, summary.baseline), _share_lost(point, summary.baseline)
    speed = "" if ratio is None else f" {ratio:.2f}x"
    # A loss that rounds to nothing is no loss: not -0.0%.
    quality = "" if lost is None else f" {round(-100 * lost, 1) + 0.0:+.1f}%"
    return f"{name}{speed}{quality}"


def rank_tags(point: Point, summary: StudySummary) -> dict[str, str]:
    """The place on the front, 1 for the fastest; else the trial on it that noise cannot tell this one from."""
    numbers = [each.number for each in summary.front]
    rank = str(numbers.index(point.number) + 1) if point.number in numbers else "no"
    stands_for = summary.as_good_as.get(point.number)
    return {
        "halfwise.front_rank": rank,
        "halfwise.as_good_as": "" if stands_for is None else f"{stands_for:03d}",
        "halfwise.chosen": "yes" if summary.best is not None and summary.best.number == point.number else "no",
    }


def hypervolume_by_trial(summary: StudySummary, info: StudyInfo) -> list[MetricValue]:
    """The area that the trials so far cover, at each trial's number; nothing where float32 does not train.

    It is that of speed above float32's, as a multiple, times quality above a loss of ten tolerances, as a share of
    float32's. Noise is not taken out: it shows how the search went, and decides nothing.
    """
    if summary.baseline is None or not summary.baseline.quality or not summary.points:
        return []
    points = sorted(summary.points, key=lambda point: point.number)
    areas = anytime_hypervolume(
        [_place(point, summary.baseline) for point in points], (1.0, _TOLERANCES * info.tolerance)
    )
    return [MetricValue(HYPERVOLUME, area, point.number) for point, area in zip(points, areas, strict=True)]


def hypervolume_tags(info: StudyInfo) -> dict[str, str]:
    """What the hypervolume counts from."""
    share = 100 * _TOLERANCES * info.tolerance
    return {"halfwise.hypervolume_from": f"float32's speed, and a loss of {share:g}% of its quality"}


def _place(point: Point, baseline: Point) -> Place | None:
    ratio, lost = speed_ratio(point, baseline), _share_lost(point, baseline)
    return None if ratio is None or lost is None else (ratio, lost)


def _share_lost(point: Point, baseline: Point | None) -> float | None:
    """What was lost as a share of float32's quality: positive is worse."""
    if point.quality_lost is None or baseline is None or not baseline.quality:
        return None
    return point.quality_lost.mean / abs(baseline.quality)
