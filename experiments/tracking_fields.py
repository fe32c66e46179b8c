"""Which metrics, params and tags a study and its trials have in MLflow.

Only finite numbers become metrics: MLflow stores infinity as 1.8e308 and its pages stumble over NaN, so what
is missing or not finite is left out and a tag says what happened. Names of layers stand in values, never in
keys: MLflow refuses most of them there.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..evaluators.memory_bound import size_words
from ..evaluators.outcome import Outcome
from ..evaluators.speed.comparison import Comparison
from ..search.front import Point, measured
from .optimality import bound_fields
from .records import StudyInfo, StudySummary, TrialRecord
from .study_file import BASELINE

# MLflow cuts what is longer, and says nothing.
LONGEST_PARAM, LONGEST_TAG = 6000, 8000

# The metrics that have a value for each training step; all others stand at step 0.
CURVES = ("loss", "loss_scale")


class MetricValue(NamedTuple):
    """One finite number, at a training step where it has one."""

    key: str
    value: float
    step: int = 0


def shortened(value: str, longest: int, whole: str) -> str:
    """The value, or its beginning and where the whole of it is if it is longer than `longest` characters."""
    if len(value) <= longest:
        return value
    note = f" … (whole: {whole})"
    return value[: longest - len(note)] + note


def study_tags(info: StudyInfo) -> dict[str, str]:
    """What MLflow's run list can filter a study by."""
    tags = {
        "halfwise.kind": "study",
        "halfwise.study": info.name,
        "halfwise.workload": info.workload,
        "halfwise.device": info.device,
        "halfwise.speed": info.speed_label,
        "halfwise.command": info.command,
        "halfwise.folder": str(info.folder),
    }
    tags |= {f"halfwise.{package}_version": version for package, version in info.versions.items()}
    return _fitting(tags, LONGEST_TAG, "study.json")


def study_params(info: StudyInfo) -> dict[str, str]:
    """What was asked for."""
    params = {
        "workload": info.workload,
        "metric": info.metric,
        "direction": info.direction,
        "tolerance": f"{info.tolerance:g}",
        "sampler": info.sampler,
        "seed": str(info.seed),
        "trials": str(info.trials_planned),
        "device": info.device,
        "speed": info.speed_label,
    }
    if info.max_memory_bytes is not None:
        params["max_memory"] = size_words(info.max_memory_bytes)
    params |= info.budget
    return _fitting(params, LONGEST_PARAM, "study.json")


def summary_metrics(summary: StudySummary) -> list[MetricValue]:
    """The chosen policy's figures under the names that trials use, and how many trials ended how."""
    numbers: dict[str, float | None] = {"front_size": len(summary.front), "trials": len(summary.points)}
    numbers |= {
        f"trials_{status}": summary.counts.get(status, 0) for status in ("trained", "infeasible", "failed")
    }
    if summary.best is not None:
        quality, speed = measured(summary.best)
        numbers |= {"quality": quality, "speed_samples_per_s": speed}
        if (ratio := _ratio(summary.best, summary.baseline)) is not None:
            numbers["speedup_over_float32"] = ratio
        numbers |= {metric.key: metric.value for metric in lost_metrics(summary.best)}
    if summary.confirmed is not None:
        numbers |= _compared(summary.confirmed)
    if summary.bound is not None:
        numbers |= bound_fields(summary.bound)
    if summary.cost is not None:
        numbers |= summary.cost.figures()
    return list(finite(numbers))


def summary_tags(summary: StudySummary) -> dict[str, str]:
    """The chosen policy and why."""
    tags = {"halfwise.reason": summary.reason}
    if summary.cost is not None and summary.cost.ended is not None:
        tags["halfwise.ended"] = summary.cost.ended
    if summary.best is not None:
        tags |= {"halfwise.best": summary.best.label, "halfwise.digest": summary.best.digest}
        tags |= lost_tags(summary.best)
    return _fitting(tags, LONGEST_TAG, "the description")


def lost_metrics(point: Point) -> list[MetricValue]:
    """What a trial lost against float32 on the same seeds and batches, with its 95% interval; none if unknown."""
    lost = point.quality_lost
    if lost is None:
        return []
    numbers = {"quality_lost": lost.mean, "quality_lost_low": lost.low, "quality_lost_high": lost.high}
    return list(finite({**numbers, "quality_lost_seeds": lost.seeds}))


def lost_tags(point: Point) -> dict[str, str]:
    """Whether what a trial lost was confirmed with fresh seeds; float32 itself has nothing to confirm."""
    if point.quality_lost is None or point.name == BASELINE:
        return {}
    return {"halfwise.confirmed": "yes" if point.confirmed else "no"}


def trial_metrics(outcome: Outcome, speed: float | None) -> list[MetricValue]:
    """The figures of a trial, and its loss and loss scale by training step.

    `speed` is what the study compares policies by; `throughput_samples_per_s` counts wall time, and what was
    priced says so in its name.
    """
    time = outcome.step_time
    numbers: dict[str, float | None] = {
        "quality": outcome.quality,
        "speed_samples_per_s": speed,
        "throughput_samples_per_s": outcome.throughput_samples_per_s,
        "step_wall_s": time.wall_s if time else None,
        "step_cpu_s": time.process_cpu_s if time else None,
        "compile_time_s": outcome.compile_time_s,
        "trial_time_s": outcome.trial_time_s,
        "peak_memory_bytes": outcome.peak_memory_bytes,
        "priced_memory_bytes": outcome.least_memory_bytes,
        "updates_applied": outcome.updates_applied,
        "updates_skipped": outcome.updates_skipped,
        "low_precision_share": _share(outcome),
    }
    if outcome.priced is not None:
        numbers |= {
            "priced_step_time_s": outcome.priced.step_time_s,
            "priced_casts": outcome.priced.casts,
            "priced_cast_share": outcome.priced.cast_share,
        }
    if outcome.against_float32 is not None:
        numbers |= _compared(outcome.against_float32)
    curves = dict(zip(CURVES, (outcome.losses, outcome.loss_scales), strict=True))
    points = [
        MetricValue(key, float(value), step)
        for key, values in curves.items()
        for step, value in enumerate(values)
        if value is not None and math.isfinite(value)
    ]
    return [*finite(numbers), *points]


def trial_params(record: TrialRecord) -> dict[str, str]:
    """The policy, so that MLflow can compare trials by it; a long one is whole in `policy.yaml` only."""
    policy = record.policy
    params = {
        "policy": str(policy),
        "default": policy.default,
        "low_precision": policy.low_precision,
        "mode": policy.mode,
        "loss_scaling": policy.loss_scaling.kind,
        "layer_rules": str(len(policy.layers)),
        "white_list": ", ".join(policy.ops.white_list),
        "black_list": ", ".join(policy.ops.black_list),
        "seed": str(record.outcome.seed),
    }
    return _fitting(params, LONGEST_PARAM, "policy.yaml")


def trial_tags(record: TrialRecord, info: StudyInfo) -> dict[str, str]:
    """What MLflow's run list can filter a trial by, and what went wrong where something did."""
    outcome = record.outcome
    tags = {
        "halfwise.kind": "trial",
        "halfwise.study": info.name,
        "halfwise.trial": f"{record.number:03d}",
        "halfwise.digest": outcome.digest,
        "halfwise.status": outcome.status,
        "halfwise.device": outcome.device,
        "halfwise.mindspore_version": outcome.mindspore_version,
        "halfwise.speed": info.speed_label,
    }
    optional = {
        "halfwise.policy_name": record.name,
        "halfwise.cause": outcome.cause,
        "halfwise.speed_conclusive": _conclusive(outcome.against_float32),
        "halfwise.first_non_finite": str(outcome.first_non_finite) if outcome.first_non_finite else None,
        "halfwise.non_finite_steps": _non_finite_steps(outcome),
    }
    tags |= {key: value for key, value in optional.items() if value}
    return _fitting(tags, LONGEST_TAG, "outcome.json")


def front_table(summary: StudySummary, info: StudyInfo) -> dict[str, list[object]]:
    """The front in the form that MLflow shows as a table: columns, and rows from the fastest on."""
    columns = ["trial", "policy", info.metric, "quality_lost", "quality_lost_low", "quality_lost_high"]
    columns += ["confirmed", "speed_samples_per_s", "against_float32", "interval", "digest"]
    rows = [_front_row(point, summary.baseline) for point in summary.front]
    return {"columns": list(columns), "data": list(rows)}


def _front_row(point: Point, baseline: Point | None) -> list[object]:
    quality, speed = measured(point)
    lost, interval = point.quality_lost, str(point.against_float32 or "")
    differences = [lost.mean, lost.low, lost.high] if lost else [None, None, None]
    place = [speed, _ratio(point, baseline), interval, point.digest]
    return [point.number, point.name or "", quality, *differences, point.confirmed, *place]


def _ratio(point: Point, baseline: Point | None) -> float | None:
    if baseline is None or measured(baseline)[1] <= 0:
        return None
    return measured(point)[1] / measured(baseline)[1]


def _compared(comparison: Comparison) -> dict[str, float | None]:
    """What was measured side by side, as metrics; the ratio is that of the clock that the device is judged by."""
    ratio = comparison.judged
    return {
        "speed_ratio": ratio.median,
        "speed_ratio_low": ratio.low,
        "speed_ratio_high": ratio.high,
        "speed_ratio_wall": comparison.wall.median,
        "speed_ratio_cpu": comparison.cpu.median,
        "waiting_share": comparison.waiting_share,
    }


def _conclusive(comparison: Comparison | None) -> str | None:
    if comparison is None:
        return None
    return "yes" if comparison.conclusive else "no"


def _share(outcome: Outcome) -> float | None:
    if outcome.low_precision_layers is None or not outcome.layers:
        return None
    return outcome.low_precision_layers / outcome.layers


def _non_finite_steps(outcome: Outcome) -> str | None:
    steps = [step for step, loss in enumerate(outcome.losses) if loss is None or not math.isfinite(loss)]
    return f"{len(steps)} of {len(outcome.losses)}, first {steps[0]}" if steps else None


def finite(numbers: Mapping[str, float | None]) -> Iterator[MetricValue]:
    """Those of the numbers that are there and finite."""
    for key, value in numbers.items():
        if value is not None and math.isfinite(value):
            yield MetricValue(key, float(value))


def _fitting(values: Mapping[str, str], longest: int, whole: str) -> dict[str, str]:
    return {key: shortened(value, longest, whole) for key, value in values.items()}
