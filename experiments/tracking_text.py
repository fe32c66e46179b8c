"""The descriptions that MLflow shows beside a run, as markdown."""

import html
import re
from dataclasses import dataclass

from ..search.front import Point, measured
from .optimality import bound_words
from .records import StudyInfo, StudySummary, TrialRecord

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~])")
_USE = """\
```python
from halfwise.policies import load_policy
from halfwise.policies.rewrite import apply

apply(load_policy("best-policy.yaml"), network)
```"""


@dataclass(frozen=True)
class Links:
    """Where to look on, as addresses within MLflow's pages: the run list, and the report if there is one."""

    trials: str
    report: str | None = None

    def __str__(self) -> str:
        """One line of markdown."""
        trials = f"[All trials with their figures]({self.trials})"
        return trials if self.report is None else f"{trials} · [The report]({self.report})"


def escaped(text: str) -> str:
    """The text as markdown that shows it letter by letter: no HTML, no markup, one line."""
    return _MARKUP.sub(r"\\\1", html.escape(" ".join(text.split()), quote=False))


def code_block(text: str, language: str = "") -> str:
    """The text as a code block, fenced so that nothing in it ends the block."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def opening(info: StudyInfo, links: Links) -> str:
    """What is being searched, while it is."""
    return "\n\n".join([_question(info), "The search is running.", str(links), *_making(info)])


def closing(info: StudyInfo, summary: StudySummary, failed: str | None, links: Links) -> str:
    """What was searched, what came of it and why, the front, how to use the policy; `failed`: what ended it."""
    parts = [] if failed is None else [f"**The search ended early:** {escaped(failed)}"]
    parts += [_verdict(summary), str(links), _question(info), _tally(summary)]
    parts += [escaped(remark) for remark in summary.remarks]
    if summary.bound is not None and summary.best is not None:
        parts.append(escaped(bound_words(summary.bound, summary.best)))
    if summary.front:
        parts += ["### Front", _table(info, summary)]
    if summary.best is not None:
        parts += [
            "### Use the policy",
            "`best-policy.yaml` is among this run's artifacts; in your own training script:",
            _USE,
        ]
    return "\n\n".join(parts + _making(info))


def trial(record: TrialRecord) -> str:
    """Whether the policy trained, why not, and where it went wrong."""
    outcome = record.outcome
    words = {"trained": "Trained.", "infeasible": "Does not count", "failed": "Did not run to its end"}
    text = words[outcome.status]
    if outcome.cause:
        text = f"**{text.rstrip('.')}:** {escaped(outcome.cause)}"
    if outcome.first_non_finite is not None:
        text += f"\n\nFirst non-finite value: {escaped(str(outcome.first_non_finite))}"
    if outcome.message:
        text += "\n\n" + code_block(outcome.message)
    return "\n\n".join([text, *(escaped(note) for note in outcome.notes)])


def _verdict(summary: StudySummary) -> str:
    if summary.best is None:
        return f"**No policy was chosen:** {escaped(summary.reason)}"
    return f"**Best policy:** {escaped(summary.reason)}"


def _question(info: StudyInfo) -> str:
    return (
        f"{escaped(info.name)}: which layers of *{escaped(info.workload)}* may train in a half precision, "
        f"on {escaped(info.device)}? Quality is {escaped(info.metric)} ({_better(info)} is better; tolerance "
        f"{info.tolerance * 100:g}% of float32's), speed is {escaped(info.speed_label)}. "
        f"{info.trials_planned} trials, proposed by {escaped(info.sampler)} with seed {info.seed}."
    )


def _better(info: StudyInfo) -> str:
    return "more" if info.direction == "maximize" else "less"


def _tally(summary: StudySummary) -> str:
    counts = summary.counts
    return (
        f"{len(summary.points)} policies tried: {counts.get('trained', 0)} trained, "
        f"{counts.get('infeasible', 0)} do not count, {counts.get('failed', 0)} did not run to their end."
    )


def _table(info: StudyInfo, summary: StudySummary) -> str:
    metric, speed = escaped(info.metric), escaped(info.speed_label)
    head = f"| policy | {metric} | lost against float32 | confirmed | samples/s, {speed} | against float32 |"
    rows = [_row(point, summary.baseline) for point in summary.front]
    return "\n".join([head, "| --- | ---: | ---: | --- | ---: | ---: |", *rows])


def _row(point: Point, baseline: Point | None) -> str:
    quality, speed = measured(point)
    lost = point.quality_lost if point != baseline else None
    confirmed = ("yes" if point.confirmed else "no") if lost else ""
    figures = f"{quality:.5g} | {lost.short if lost else ''} | {confirmed} | {speed:,.5g}"
    return f"| {escaped(point.label)} | {figures} | {speedup(point, baseline)} |"


def speedup(point: Point, baseline: Point | None) -> str:
    """Speed against float32's, such as "1.24x", with bounds if it was measured; empty without a float32 point."""
    if baseline is None or measured(baseline)[1] <= 0:
        return ""
    ratio = f"{measured(point)[1] / measured(baseline)[1]:.2f}x"
    return f"{ratio} ({point.against_float32})" if point.against_float32 else ratio


def _making(info: StudyInfo) -> list[str]:
    versions = ", ".join(f"{escaped(name)} {escaped(version)}" for name, version in sorted(info.versions.items()))
    return ["### Made by", code_block(info.command, "sh"), f"in {escaped(str(info.folder))} with {versions}."]
