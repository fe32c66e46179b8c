"""A study in the terminal: its trials as a table, the chosen policy and why, and where to look next."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..evaluators.json_file import read_json
from ..policies.errors import HalfwiseError
from ..search.choice import Best
from ..search.front import Point, merit, pareto_front
from .conclusion import speed_ratio
from .home import Home, StudyFolder
from .records import StudyInfo, TrialRecord
from .study_file import ALL_LOW, BASELINE, StudyFile, comparison_of, criteria_of, point_of, read_records


def print_study(folder: StudyFolder, home: Home, console: Console) -> None:
    """The front first, then the levels and what did not train, the choice, and the next commands."""
    info = read_json(StudyFile, folder.study_file).info
    records = read_records(folder)
    points = [point_of(record, info) for record in records]
    front = pareto_front(points, info.direction)
    console.print(_table(info, points, front))
    places = {record.number: record.outcome.first_non_finite for record in records}
    for point in points:
        if not point.feasible:
            place = f"; first at {places[point.number]}" if places[point.number] else ""
            console.print(f"{point.label} does not count: {point.cause}{place}", markup=False)
    for line in [*_all_low(info, points), _verdict(info, points, records), *_what_speed_means(info)]:
        console.print(line, markup=False)
    for record in records:
        if (compared := comparison_of(record)) is not None:
            console.print(f"Measured once more, {point_of(record, info).label}: {compared}", markup=False)
    best, _ = _choice(info, points, records)
    if info.priced_for is not None and best is not None and best.name == BASELINE:
        console.print(f"Why not faster: {price_line(info)}", markup=False)
    if folder.best_policy.exists():
        console.print(f"Policy file: {folder.best_policy}", markup=False)
    console.print(f"Look at it:  {ui_line(home)}", markup=False)


def study_json(folder: StudyFolder) -> str:
    """The same as JSON."""
    info = read_json(StudyFile, folder.study_file).info
    records = read_records(folder)
    points = [point_of(record, info) for record in records]
    front = pareto_front(points, info.direction)
    best, reason = _choice(info, points, records)
    document: dict[str, Any] = {
        "study": info.name,
        "workload": info.workload,
        "metric": info.metric,
        "direction": info.direction,
        "speed_is": info.speed_label,
        "trials": [_row(point) for point in points],
        "front": [point.number for point in front],
        "best": best and best.number,
        "reason": reason,
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


def _all_low(info: StudyInfo, points: Sequence[Point]) -> list[str]:
    """Whether the network trains with everything in low precision, from the trial of level O3."""
    criteria = criteria_of(info, points)
    low = next((point for point in points if point.name == ALL_LOW and point.feasible), None)
    if low is None or low.quality is None or criteria.baseline is None or criteria.baseline.quality is None:
        return []
    figures = f"{low.label} reaches {info.metric} {low.quality:.5g}, float32 {criteria.baseline.quality:.5g}"
    bound = criteria.bound(criteria.baseline.quality)
    if merit(low.quality, info.direction) >= merit(bound, info.direction):
        return [f"Everything may go low: {figures}."]
    return [f"With everything low it trains, but not within {info.tolerance:.1%} of float32: {figures}."]


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


def _row(point: Point) -> dict[str, Any]:
    interval = point.against_float32
    return {
        "trial": point.number,
        "policy": point.name or point.digest,
        "quality": point.quality,
        "samples_per_s": point.speed,
        "against_float32": interval
        and {"low": interval.low, "high": interval.high, "conclusive": interval.conclusive},
        "trains": point.feasible,
        "cause": point.cause,
    }


def _choice(info: StudyInfo, points: Sequence[Point], records: Sequence[TrialRecord]) -> tuple[Point | None, str]:
    try:
        choice = Best().choose(points, criteria_of(info, points, records))
    except HalfwiseError as error:
        return None, str(error)
    return choice.point, choice.reason


def _verdict(info: StudyInfo, points: Sequence[Point], records: Sequence[TrialRecord]) -> str:
    best, reason = _choice(info, points, records)
    return f"Chosen: {reason}" if best else f"Nothing was chosen: {reason}"


def _ratio_words(ratio: float | None, point: Point) -> str:
    if ratio is None:
        return ""
    return f"{ratio:.2f}x" + (f" ({point.against_float32})" if point.against_float32 else "")


def _table(info: StudyInfo, points: Sequence[Point], front: Sequence[Point]) -> Table:
    baseline = criteria_of(info, points).baseline
    table = Table(title=info.title, caption=f"speed: {info.speed_label}")
    for heading in ("trial", "policy", info.metric, "samples/s", "against float32", "front"):
        table.add_column(heading, justify="left" if heading in ("policy", "front") else "right")
    feasible = [point for point in points if point.feasible and point.speed is not None]
    for point in sorted(feasible, key=lambda p: (-(p.speed or 0), -merit(p.quality or 0, info.direction))):
        ratio = speed_ratio(point, baseline)
        cells = (
            str(point.number),
            point.name or point.digest,
            f"{point.quality:.5g}",
            f"{point.speed:,.0f}",
            _ratio_words(ratio, point),
            "on it" if point in front else "",
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table
