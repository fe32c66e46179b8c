"""What a study found beside its choice, in sentences: what is noise, what is unconfirmed, what may go low."""

from collections.abc import Iterator, Sequence

from ..policies import LOW_PRECISIONS, Policy
from ..search.front import Point
from ..search.noisy_front import NoisyFront
from .confirmation import Confirmation, confirmation_of
from .home import StudyFolder
from .paired import kept_repeats, noise_of
from .records import StudyInfo, TrialRecord
from .study_file import BASELINE

# So many equal qualities are no accident.
_ENOUGH_EQUAL = 3


def remarks_on(
    info: StudyInfo,
    folder: StudyFolder,
    records: Sequence[TrialRecord],
    points: Sequence[Point],
    front: NoisyFront,
) -> tuple[str, ...]:
    """The sentences, the most important first; none where nothing is to be said."""
    return (
        *_all_low(info, records, points),
        *_constant(info, folder, points),
        *_noise(info, folder),
        *_unconfirmed(front),
    )


def is_all_low(policy: Policy) -> bool:
    """Whether the policy leaves nothing in float32 that may go low."""
    low = policy.default in LOW_PRECISIONS and not policy.ops.black_list
    return low and all(precision in LOW_PRECISIONS for precision in policy.layers.values())


def _all_low(info: StudyInfo, records: Sequence[TrialRecord], points: Sequence[Point]) -> Iterator[str]:
    """Whether the network trains with everything in low precision, and what that rests on."""
    float32 = next((point for point in points if point.name == BASELINE and point.quality is not None), None)
    low = next((each for each in zip(records, points, strict=True) if is_all_low(each[0].policy)), None)
    if float32 is None or float32.quality is None or low is None:
        return
    record, point = low
    if not point.feasible or point.quality_lost is None:
        return
    confirmation = confirmation_of(record)
    allowed = confirmation.allowed if confirmation else info.tolerance * abs(float32.quality)
    words = f"{point.label} loses {point.quality_lost} of {info.metric}, {_length(record, confirmation)}"
    if point.quality_lost.mean <= allowed:
        sure = "" if point.confirmed else "; not confirmed with fresh seeds"
        yield f"Everything may go low: {words}; {allowed:.2g} are allowed; {len(points)} policies tried{sure}."
    else:
        yield f"With everything low it trains, but not within {info.tolerance:.1%} of float32: {words}."


def _length(record: TrialRecord, confirmation: Confirmation | None) -> str:
    steps = confirmation.steps if confirmation else record.outcome.steps
    return f"{steps} steps" + (" each" if confirmation else "")


def _constant(info: StudyInfo, folder: StudyFolder, points: Sequence[Point]) -> Iterator[str]:
    """Whether the metric says nothing at all: trials of one seed may agree, but float32's other seeds as well?"""
    qualities = [point.quality for point in points if point.feasible and point.quality is not None]
    qualities += list(kept.qualities.values()) if (kept := kept_repeats(folder)) else []
    if len(qualities) >= _ENOUGH_EQUAL and len(set(qualities)) == 1:
        yield (
            f"{info.metric} is {qualities[0]:.5g} in every one of {len(qualities)} trainings: such a metric tells "
            "no policy from another; look at the workload's evaluate(), or train longer (`steps`)."
        )


def _noise(info: StudyInfo, folder: StudyFolder) -> Iterator[str]:
    noise = noise_of(folder)
    if noise is not None:
        yield (
            f"Differences below {noise.margin:.2g} of {info.metric} are noise here (95%, from {noise.repeats} "
            "trainings of float32): the front shows what lies further apart."
        )


def _unconfirmed(front: NoisyFront) -> Iterator[str]:
    """Which points of the front rest on one short training."""
    open_ = [point.label for point in front.points if point.name != BASELINE and not point.confirmed]
    if open_:
        yield f"On the front but not confirmed with fresh seeds: {', '.join(open_)}."
