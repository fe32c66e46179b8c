"""A study in the terminal: its trials as a table, the chosen policy and why, and where to look next."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..evaluators.json_file import read_json
from ..policies.canonical import printable
from ..search.front import Point, by_speed
from .conclusion import findings, lost_fields, speed_ratio
from .cost import cost_of
from .drawn_front import picture_of
from .front_plot import Shapes, front_plot
from .home import Home, StudyFolder
from .optimality import bound_fields, bound_words, with_bound
from .records import StudyInfo, StudySummary, TrialRecord
from .study_file import ALL_LOW, BASELINE, StudyFile, comparison_of, criteria_of, point_of, read_records


def print_study(folder: StudyFolder, home: Home, console: Console, shapes: Shapes | None = None) -> None:
    """The front first, then the levels and what did not train, the choice, and the next commands.

    With shapes the front is drawn too, as wide as the console.
    """
    info = read_json(StudyFile, folder.study_file).info
    records = read_records(folder)
    found = with_bound(info, folder, findings(info, folder, records))
    console.print(_table(info, found))
    if shapes is not None:
        picture = picture_of(info, found, criteria_of(info, found.points, records))
        console.print(front_plot(picture, console.width, shapes), markup=False)
    places = {record.number: record.outcome.first_non_finite for record in records}
    for point in found.points:
        if not point.feasible:
            place = f"; first at {places[point.number]}" if places[point.number] else ""
            console.print(f"{point.label} does not count: {point.cause}{place}", markup=False)
    lines = [*found.remarks, _verdict(found), *_bound(found), *_what_speed_means(info)]
    for line in [*lines, *_what_it_cost(folder, records)]:
        console.print(line, markup=False)
    for record in records:
        if (compared := comparison_of(record)) is not None:
            console.print(f"Measured once more, {point_of(record, info).label}: {compared}", markup=False)
    if info.priced_for is not None and found.best is not None and found.best.name == BASELINE:
        console.print(f"Why not faster: {price_line(info)}", markup=False)
    if folder.best_policy.exists():
        console.print(f"Policy file: {folder.best_policy}", markup=False)
    console.print(f"Look at it:  {ui_line(home)}", markup=False)


def study_json(folder: StudyFolder) -> str:
    """The same as JSON."""
    info = read_json(StudyFile, folder.study_file).info
    found = with_bound(info, folder, findings(info, folder, read_records(folder)))
    document: dict[str, Any] = {
        "study": info.name,
        "workload": info.workload,
        "metric": info.metric,
        "direction": info.direction,
        "speed_is": info.speed_label,
        "trials": [_row(point, found) for point in found.points],
        "front": [point.number for point in found.front],
        "best": found.best and found.best.number,
        "reason": found.reason,
        **({} if found.bound is None else bound_fields(found.bound)),
        "remarks": list(found.remarks),
        "cost": cost_of(folder).figures(),
        "ended": cost_of(folder).ended,
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def price_line(info: StudyInfo) -> str:
    """The command that shows where the price of an all-low step goes."""
    return shlex.join(
        ["halfwise", "price", ALL_LOW, "--workload", info.workload, "--price-for", str(info.priced_for)]
    )


def ui_line(home: Home) -> str:
    """The command that opens the MLflow pages of this home from any folder."""
    return shlex.join(["halfwise", "ui", "--home", str(home.path)])


def _what_it_cost(folder: StudyFolder, records: Sequence[TrialRecord]) -> list[str]:
    """Nothing where it was never written down."""
    if not folder.cost_file.exists():
        return []
    cost = cost_of(folder)
    ended = [] if cost.ended is None else [f"The search ended: {cost.ended}."]
    return [*ended, f"What it cost: {cost.words(len(records))}."]


def _what_speed_means(info: StudyInfo) -> list[str]:
    if info.priced_for is not None:
        return [
            f"Speed is priced on {info.priced_for}: worked out from the compiled step, not measured there. "
            f"Quality is that of {info.device} kernels."
        ]
    if info.device == "CPU":
        return [
            "Speed is measured on this CPU, where float16 is slower than float32: that says nothing about an "
            "accelerator."
        ]
    return []


def _row(point: Point, found: StudySummary) -> dict[str, Any]:
    interval = point.against_float32
    return {
        "trial": point.number,
        "policy": point.name or point.digest,
        "quality": point.quality,
        "quality_lost": point.quality_lost and lost_fields(point.quality_lost),
        "samples_per_s": point.speed,
        "against_float32": interval
        and {"low": interval.low, "high": interval.high, "conclusive": interval.conclusive},
        "trains": point.feasible,
        "as_good_as": found.as_good_as.get(point.number),
        "cause": point.cause,
    }


def _verdict(found: StudySummary) -> str:
    return f"Chosen: {found.reason}" if found.best else f"Nothing was chosen: {found.reason}"


def _bound(found: StudySummary) -> list[str]:
    return [] if found.bound is None or found.best is None else [bound_words(found.bound, found.best)]


def _ratio_words(ratio: float | None, point: Point) -> str:
    if ratio is None:
        return ""
    return f"{ratio:.2f}x" + (f" ({point.against_float32})" if point.against_float32 else "")


def _table(info: StudyInfo, found: StudySummary) -> Table:
    table = Table(
        title=_shown(info.title),
        caption=_shown(f"speed: {info.speed_label}; lost: against float32, 95% interval"),
    )
    for heading in ("trial", "policy", info.metric, "lost", "samples/s", "against float32", "front"):
        table.add_column(_shown(heading), justify="left" if heading in ("policy", "front") else "right")
    for point in by_speed(found.points, info.direction):
        cells = (
            str(point.number),
            point.name or point.digest,
            f"{point.quality:.5g}",
            _lost_words(point),
            f"{point.speed:,.0f}",
            _ratio_words(speed_ratio(point, found.baseline), point),
            _place_words(point, found),
        )
        table.add_row(*map(_shown, cells))
    return table


def _shown(text: str) -> Text:
    """Without markup and control characters: rich reads the first in a plain text, and prints the second."""
    return Text(printable(text))


def _lost_words(point: Point) -> str:
    return "" if point.quality_lost is None or point.name == BASELINE else point.quality_lost.short


def _place_words(point: Point, found: StudySummary) -> str:
    """Where it stands: "on it, confirmed", "on it", "as good as 3", or nothing."""
    confirmed = ["confirmed"] if point.confirmed else []
    if point in found.front:
        return ", ".join(["on it", *confirmed])
    if point.number in found.as_good_as:
        return ", ".join([f"as good as {found.as_good_as[point.number]}", *confirmed])
    return ""
