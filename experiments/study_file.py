"""What a study keeps about itself on disk, and its finished trials read back from there."""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..evaluators.json_file import read_json
from ..evaluators.outcome import Outcome
from ..evaluators.speed.comparison import Comparison
from ..policies import parse_policy
from ..policies.errors import InputError
from ..search.choice import Criteria
from ..search.front import Interval, Point
from .confirmation import confirmation_of
from .home import StudyFolder
from .records import StudyInfo, TrialRecord

# The all-float32 policy that every study tries first: quality and speed are compared with it.
BASELINE = "O0"
# In a trial's folder: its speed against a float32 twin, where that was measured once more as the choice.
COMPARISON_FILE = "against-float32.json"
# The one with everything in low precision.
ALL_LOW = "O3"


class StudyFile(BaseModel):
    """`study.json`: what the study is; `study_id` is random, and tells it from others in whatever store."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["halfwise/study/1"] = "halfwise/study/1"
    info: StudyInfo
    study_id: str = Field(default_factory=lambda: uuid.uuid4().hex)


def study_file_of(folder: StudyFolder, info: StudyInfo) -> StudyFile:
    """What the study is now, under the id that it has had from its first start."""
    if not folder.study_file.exists():
        return StudyFile(info=info)
    return StudyFile(info=info, study_id=read_json(StudyFile, folder.study_file).study_id)


def refuse_other_study(folder: StudyFolder, there: StudyFile, where: str, remedy: str) -> None:
    """See that the folder holds the study of that id, or none yet; `where` is what the study was read from.

    Raises:
        InputError: it holds another one; the message ends with the remedy.
    """
    if folder.study_file.exists() and read_json(StudyFile, folder.study_file).study_id != there.study_id:
        raise InputError(f"{folder.path} holds another study of that name than {where}: {remedy}")


def read_records(folder: StudyFolder) -> list[TrialRecord]:
    """The finished trials in the order of their numbers; a trial without an outcome yet is passed over."""
    places = {int(place.name): place for place in folder.trials.glob("*") if place.name.isdecimal()}
    return [read_record(place) for _, place in sorted(places.items()) if (place / "outcome.json").exists()]


def read_record(place: Path) -> TrialRecord:
    """The finished trial in a folder.

    Raises:
        HalfwiseError: its outcome cannot be read.
    """
    outcome = read_json(Outcome, place / "outcome.json")
    return TrialRecord(int(place.name), outcome.policy_name, parse_policy(outcome.policy), outcome, place)


def comparison_of(record: TrialRecord) -> Comparison | None:
    """The trial's speed against a float32 twin as the choice, if it was measured once more."""
    file = record.folder / COMPARISON_FILE
    return read_json(Comparison, file) if file.exists() else None


def trained_before(records: Sequence[TrialRecord]) -> dict[str, Outcome]:
    """Outcomes by training key (see `Evidence`): a policy that compiles to the same step shares them.

    Failed trials found out nothing and are left out.
    """
    found: dict[str, Outcome] = {}
    for record in records:
        outcome = record.outcome
        if outcome.evidence is not None and outcome.status != "failed":
            note = f"not trained again: the same training step as trial {record.number}"
            key = outcome.evidence.training_key(record.policy)
            found.setdefault(key, outcome.model_copy(update={"notes": (*outcome.notes, note)}))
    return found


def point_of(record: TrialRecord, info: StudyInfo) -> Point:
    """The trial as fronts and choices see it."""
    outcome = record.outcome
    compared = outcome.against_float32
    return Point(
        number=record.number,
        name=record.name,
        digest=outcome.digest,
        quality=outcome.quality,
        speed=info.speed.of(outcome),
        feasible=outcome.status == "trained",
        cause=outcome.cause,
        against_float32=compared and Interval(compared.judged.low, compared.judged.high, compared.conclusive),
    )


def criteria_of(info: StudyInfo, points: Sequence[Point], records: Sequence[TrialRecord] = ()) -> Criteria:
    """What a choice among the points is measured by; `records` tell which were refuted side by side.

    Float32 that trained is what others are held against even where it needs more memory than it may; one that did
    not says why in its cause.
    """
    levels = [point for point in points if point.name == BASELINE]
    trained = (point for point in levels if point.quality is not None and point.speed is not None)
    return Criteria(
        next(trained, levels[0] if levels else None),
        info.tolerance,
        info.direction,
        info.metric,
        info.speed_label,
        frozenset(record.number for record in records if _is_refuted(record)),
        frozenset(record.number for record in records if has_relapsed(record)),
    )


def _is_refuted(record: TrialRecord) -> bool:
    """Whether a measurement, of the trial or of the choice, leaves open that the policy is faster than float32."""
    found = (record.outcome.against_float32, comparison_of(record))
    return any(each is not None and not each.faster for each in found)


def has_relapsed(record: TrialRecord) -> bool:
    """Whether the policy lost too much quality when it was trained with other seeds."""
    confirmation = confirmation_of(record)
    return confirmation is not None and not confirmation.holds
