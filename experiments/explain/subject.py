"""What is to be explained: a trial of a study, with all that the study knows of it."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ...evaluators.json_file import read_json
from ...evaluators.sensitivity.result import Sensitivity
from ...policies.errors import InputError
from ...search.front import Point
from ..conclusion import findings
from ..home import StudyFolder
from ..op_tables import trial_ops
from ..records import StudyInfo, TrialRecord
from ..study_file import StudyFile, read_records


@dataclass(frozen=True)
class Subject:
    """One trial. `baseline` is float32's point, `table` the trial's op table; None what is not there."""

    folder: StudyFolder
    info: StudyInfo
    record: TrialRecord
    point: Point
    baseline: Point | None
    table: pd.DataFrame | None
    sensitivity: Sensitivity | None

    @property
    def policy_file(self) -> Path:
        """Where the policy stands, for commands."""
        return self.record.folder / "policy.yaml"


def subject_of(folder: StudyFolder, trial: int | None) -> Subject:
    """The trial of that number, or the one that the study chose; where float32 stays, the fastest beside it.

    Raises:
        InputError: the study has no such trial, or none that could be explained.
        HalfwiseError: a file of the study cannot be read.
    """
    info = read_json(StudyFile, folder.study_file).info
    records = {record.number: record for record in read_records(folder)}
    found = findings(info, folder, list(records.values()))
    number = _number(folder, [point.number for point in _by_interest(found.points, found.best)], trial)
    record = records[number]
    return Subject(
        folder=folder,
        info=info,
        record=record,
        point=next(point for point in found.points if point.number == number),
        baseline=found.baseline,
        table=trial_ops(record.folder),
        sensitivity=read_json(Sensitivity, folder.sensitivity_file) if folder.sensitivity_file.exists() else None,
    )


def _by_interest(points: tuple[Point, ...], best: Point | None) -> list[Point]:
    """The choice first, unless it is float32, of which nothing needs an explanation; then the fastest."""
    chosen = [best] if best is not None and best.name != "O0" else []
    others = [point for point in points if point.name != "O0"]
    return [*chosen, *sorted(others, key=lambda point: (not point.feasible, -(point.speed or 0.0), point.number))]


def _number(folder: StudyFolder, by_interest: list[int], trial: int | None) -> int:
    if trial is None:
        if not by_interest:
            raise InputError(f"study {folder.name} has tried nothing but float32 yet: there is nothing to explain")
        return by_interest[0]
    if trial not in by_interest and trial not in {record.number for record in read_records(folder)}:
        raise InputError(f"study {folder.name} has no finished trial {trial}")
    return trial
