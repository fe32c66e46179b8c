"""What a report says of a study, section by section, as plain values for the template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...evaluators.json_file import read_json
from ...policies import NetworkOutline
from ...policies.resolve import Resolver
from ..conclusion import findings
from ..home import StudyFolder
from ..looked_at import kept_look
from ..op_tables import trial_ops
from ..optimality import with_bound
from ..reasons import reasons_of
from ..records import StudyInfo, StudySummary, TrialRecord
from ..study_file import BASELINE, StudyFile, read_records
from .answer import Figure, answer, how, key_figures, not_measured, verdict
from .cast_map import CastMaps, cast_maps
from .curves import CurvePicture, curve_picture
from .front_picture import FrontPicture
from .front_spots import front_of
from .layers import Cell, StripRow, explained, precisions_of, strip
from .sensitive import Sensitive, sensitivities
from .trial_rows import TrialRow, by_cause, trial_name, trial_rows

# Policies that are shown layer by layer: more columns than these nobody reads.
_COLUMNS = 12
# Lines in one picture, float32's not counted.
_LINES = 5


@dataclass(frozen=True)
class Contents:
    """All sections; `best` is the number of the chosen trial, `columns` are the trials of the strip's cells."""

    info: StudyInfo
    verdict: str
    figures: tuple[Figure, ...]
    answer: tuple[str, ...]
    policy_file: str | None
    best: int | None
    trials: tuple[TrialRow, ...]
    front: FrontPicture | None
    columns: tuple[TrialRow, ...]
    layers: tuple[Mapping[str, Cell], ...]
    strip: tuple[StripRow, ...]
    sensitivity: tuple[Sensitive, ...]
    losses: CurvePicture | None
    scales: CurvePicture | None
    casts: CastMaps
    how: tuple[str, ...]
    not_measured: tuple[str, ...]

    @property
    def fallen(self) -> Mapping[str, tuple[TrialRow, ...]]:
        """Trials without a place in the picture, by their causes: they do not train, or did not run."""
        return by_cause([row for row in self.trials if row.status != "trained"])

    @property
    def reasons(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """By policy of the strip that has any: why its rules keep something in float32."""
        found = (
            (row.name, tuple(dict.fromkeys(reason for cell in cells.values() for reason in cell.reasons)))
            for row, cells in zip(self.columns, self.layers, strict=True)
        )
        return tuple(each for each in found if each[1])

    @property
    def details(self) -> dict[str, Any]:
        """What the page's script shows of a trial: words and policy, and of some what each layer computes in."""
        layers = dict(zip((row.number for row in self.columns), self.layers, strict=True))
        return {
            str(row.number): {
                "name": row.name,
                "words": row.words,
                "policy": row.policy,
                "layers": {path: cell.precision for path, cell in layers[row.number].items()}
                if row.number in layers
                else None,
            }
            for row in self.trials
        }


def contents_of(folder: StudyFolder) -> Contents:
    """Read a study and sort what it holds into sections; one without a finished trial has few.

    Raises:
        HalfwiseError: a file of it cannot be read.
    """
    info = read_json(StudyFile, folder.study_file).info
    records = read_records(folder)
    found = with_bound(info, folder, findings(info, folder, records))
    trials = trial_rows(records, found)
    shown = _shown(records, found)
    tables = [(record, table) for record in shown if (table := trial_ops(record.folder)) is not None]
    layers = _layers(tables, folder, records)
    columns = {record.number for record, _ in tables}
    by_number = {row.number: row for row in trials}
    return Contents(
        info=info,
        verdict=verdict(info, found),
        figures=key_figures(info, found, records),
        answer=answer(info, folder, found, records),
        policy_file=str(folder.best_policy) if found.best and folder.best_policy.exists() else None,
        best=found.best and found.best.number,
        trials=trials,
        front=front_of(info, found, records),
        columns=tuple(by_number[record.number] for record in shown if record.number in columns),
        layers=layers,
        strip=strip(layers),
        sensitivity=sensitivities(folder),
        losses=curve_picture([(trial_name(each), each.outcome.losses) for each in _lines(shown)]),
        scales=curve_picture([(trial_name(each), each.outcome.loss_scales) for each in _lines(shown)], log2=True),
        casts=cast_maps([(trial_name(record), table) for record, table in tables], info.priced_for),
        how=how(info, folder, records),
        not_measured=not_measured(info, found, records),
    )


def _shown(records: Sequence[TrialRecord], found: StudySummary) -> list[TrialRecord]:
    """The chosen one, the front, fastest first, then the named levels: what is looked at layer by layer."""
    front = [point.number for point in found.front]
    named = [record.number for record in records if record.name is not None]
    chosen = [found.best.number] if found.best is not None else []
    by_number = {record.number: record for record in records}
    return [by_number[number] for number in dict.fromkeys([*chosen, *front, *named])][:_COLUMNS]


def _layers(
    tables: Sequence[tuple[TrialRecord, pd.DataFrame]], folder: StudyFolder, records: Sequence[TrialRecord]
) -> tuple[Mapping[str, Cell], ...]:
    outline = NetworkOutline(())
    if folder.survey_file.exists():
        outline = kept_look(folder).survey.outline
    resolver = Resolver(outline)
    return tuple(
        explained(precisions_of(table), record.policy, resolver, reasons_of(record.policy, folder, records))
        for record, table in tables
    )


def _lines(shown: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Float32 first, then the others in their order."""
    float32 = [record for record in shown if record.name == BASELINE]
    return [*float32, *[record for record in shown if record.name != BASELINE][:_LINES]]
