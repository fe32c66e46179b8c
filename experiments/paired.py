"""A study's trials as fronts and choices see them: each held against float32 on the same seed and batches."""

from collections.abc import Sequence
from dataclasses import replace

from ..evaluators.json_file import read_json
from ..evaluators.outcome import Outcome
from ..search.front import Point
from ..search.noise import Noise, QualityLost
from ..search.noisy_front import Resolution
from .confirmation import confirmation_of, quality_lost
from .float32_repeats import Float32Repeats
from .home import StudyFolder
from .records import StudyInfo, TrialRecord
from .study_file import BASELINE, point_of


def points_of(records: Sequence[TrialRecord], info: StudyInfo, folder: StudyFolder) -> list[Point]:
    """The points of all trials, in their order.

    What a policy lost is the mean of its confirmation, where it was trained with fresh seeds, else the difference
    to float32 of its own seed and length. One that did not train with a fresh seed is no longer feasible.
    """
    noise = noise_of(folder)
    return [_held_against(record, point_of(record, info), records, noise) for record in records]


def noise_of(folder: StudyFolder) -> Noise | None:
    """Float32's spread from seed to seed; None where it was not repeated."""
    repeats = kept_repeats(folder)
    return repeats and Noise(repeats.noise, len(repeats.qualities))


def kept_repeats(folder: StudyFolder) -> Float32Repeats | None:
    """Float32's quality by seed; None where it was not repeated."""
    return read_json(Float32Repeats, folder.float32_file) if folder.float32_file.exists() else None


def resolution_of(info: StudyInfo, folder: StudyFolder, baseline: Point | None) -> Resolution:
    """How well this study tells two trials apart."""
    noise = noise_of(folder)
    return Resolution(
        direction=info.direction,
        quality_margin=0.0 if noise is None else noise.margin,
        float32_speed=baseline and baseline.speed,
    )


def _held_against(record: TrialRecord, point: Point, records: Sequence[TrialRecord], noise: Noise | None) -> Point:
    confirmation = confirmation_of(record)
    if confirmation is not None and confirmation.failure is not None:
        return replace(point, feasible=False, cause=confirmation.failure)
    if confirmation is not None:
        return replace(point, quality_lost=confirmation.lost)
    return replace(point, quality_lost=_of_trial(record, records, noise))


def float32_outcome(records: Sequence[TrialRecord]) -> Outcome | None:
    """What float32 came to in the study; None where it has no quality."""
    trained = (each.outcome for each in records if each.name == BASELINE and each.outcome.quality is not None)
    return next(trained, None)


def lost_against(float32: Outcome, outcome: Outcome) -> float | None:
    """What an outcome lost against float32 of the same length; against its last where that was not kept."""
    found = outcome.quality_lost(float32)
    if found is not None or float32.quality is None:
        return found
    return quality_lost(outcome.quality, float32.quality, outcome.direction)


def _of_trial(record: TrialRecord, records: Sequence[TrialRecord], noise: Noise | None) -> QualityLost | None:
    """None without a float32 trial, or a quality. Float32 itself loses nothing, which is no estimate."""
    float32 = float32_outcome(records)
    lost = None if float32 is None else lost_against(float32, record.outcome)
    if lost is None:
        return None
    return QualityLost(0.0, 0.0) if record.name == BASELINE else QualityLost.of_one_seed(lost, noise)
