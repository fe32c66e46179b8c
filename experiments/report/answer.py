"""What a report says in words: the answer, the figures beside it, how it was measured and what was not."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..conclusion import speed_ratio
from ..cost import cost_of
from ..home import StudyFolder
from ..optimality import bound_words
from ..paired import kept_repeats
from ..records import StudyInfo, StudySummary, TrialRecord
from ..study_file import BASELINE


@dataclass(frozen=True)
class Figure:
    """A figure that is shown large: what it is, its value, and what to know of it."""

    what: str
    value: str
    note: str


def verdict(info: StudyInfo, found: StudySummary) -> str:
    """One sentence for somebody who reads no other."""
    best = found.best
    if not found.points:
        return "No trial has finished yet: there is nothing to choose from."
    if best is None:
        return f"Nothing was chosen: {found.reason}"
    ratio = speed_ratio(best, found.baseline)
    if best.name == BASELINE or ratio is None:
        return f"Chosen: {found.reason}"
    held = "" if best.confirmed else ", and is not confirmed with fresh seeds yet"
    lost = f"loses {best.quality_lost.short} of {info.metric}" if best.quality_lost else "lost an unknown quality"
    return f"{_first_upper(best.label)} has {ratio:.2f}x float32's speed, {info.speed_label}; it {lost}{held}."


def key_figures(info: StudyInfo, found: StudySummary, records: Sequence[TrialRecord]) -> tuple[Figure, ...]:
    """The chosen policy in figures; none where nothing but float32 was chosen."""
    best, ratio = found.best, found.best and speed_ratio(found.best, found.baseline)
    if best is None or ratio is None or best.name == BASELINE:
        return ()
    bounds = f", 95% interval {best.against_float32}" if best.against_float32 else ""
    figures = [Figure("speed over float32's", f"{ratio:.2f}x", f"{info.speed_label}{bounds}"), *_lost(info, found)]
    seeds = best.quality_lost.seeds if best.quality_lost else 0
    figures.append(
        Figure("confirmed", "yes", f"{seeds} fresh seeds")
        if best.confirmed
        else Figure("confirmed", "no", f"one seed; next: halfwise confirm {info.name}")
    )
    if found.bound is not None:
        belief = f"under the search's beliefs {found.bound.left_by_belief:.1%}"
        figures.append(Figure("priced speed left above it", f"at most {found.bound.left:.1%}", belief))
    record = next((each for each in records if each.number == best.number), None)
    if record is not None and record.outcome.layers:
        low = f"{record.outcome.low_precision_layers} of {record.outcome.layers}"
        figures.append(Figure("layers in low precision", low, "as asked"))
    return tuple(figures)


def answer(
    info: StudyInfo, folder: StudyFolder, found: StudySummary, records: Sequence[TrialRecord]
) -> tuple[str, ...]:
    """What was asked, the choice with its reason, the bound, remarks and the cost; a sentence or two each."""
    better = "more" if info.direction == "maximize" else "less"
    lines = [
        f"Which layers of {info.workload} may train in half precision, on {info.device}? Quality is {info.metric} "
        f"({better} is better), of which {100 * info.tolerance:g}% of float32's may be lost; speed is "
        f"{info.speed_label}."
    ]
    lines += [f"Chosen: {found.reason}."] if found.best is not None else []
    if found.bound is not None and found.best is not None:
        lines.append(bound_words(found.bound, found.best))
    lines += found.remarks
    if records and folder.cost_file.exists():
        cost = cost_of(folder)
        lines += [f"The search ended: {cost.ended}."] if cost.ended else []
        lines.append(f"It cost {cost.words(len(records))}.")
    return tuple(lines)


def how(info: StudyInfo, folder: StudyFolder, records: Sequence[TrialRecord]) -> tuple[str, ...]:
    """How every figure of the study came about."""
    repeats = kept_repeats(folder)
    noise = repeats and (
        f"Noise: float32 was trained with {len(repeats.qualities)} seeds; its {info.metric} differs by a standard "
        f"deviation of {repeats.noise:.3g}."
    )
    proven = [record.outcome.evidence for record in records if record.outcome.evidence is not None]
    clean = sum(not evidence.mismatches for evidence in proven)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(info.versions.items()))
    lines = (
        f"Trained on {info.device}, seed {info.seed}; {info.trials_planned} trials planned, by {info.sampler}.",
        "Quality lost is the difference to float32 on the same seed and batches; intervals are of 95%.",
        noise or "Noise: float32 was not repeated, so no interval is known for one seed.",
        f"Proof: in {clean} of {len(proven)} compiled steps every op computes in what was asked of it. Asked is "
        "what the policy made of the step, not what a device's kernels do."
        if proven
        else "Proof: no trial has left a compiled step.",
        f"Versions: {versions}." if versions else "Versions are not known.",
        f"The command: {info.command}",
    )
    return lines


def not_measured(info: StudyInfo, found: StudySummary, records: Sequence[TrialRecord]) -> tuple[str, ...]:
    """What a reader might take for measured, and is not."""
    lines: list[str] = []
    if info.priced_for is not None:
        lines.append(
            f"Speed: it is priced on {info.priced_for}, worked out from the compiled step; nothing was run there."
        )
        assumed = next((r.outcome.priced.assumptions for r in records if r.outcome.priced is not None), ())
        lines += [f"Assumed for the price: {assumption}" for assumption in assumed]
    elif info.device == "CPU":
        lines.append(
            "Speed on an accelerator: on this CPU float16 is slower than float32, which says nothing of one."
        )
    if info.device == "CPU":
        lines.append("Kernels of a GPU or an Ascend: quality is that of CPU kernels, which add up in float32.")
    unsure = [point.label for point in found.front if not point.confirmed and point.name != BASELINE]
    if unsure:
        lines.append(f"Fresh seeds and a longer training: not tried with {', '.join(unsure)}.")
    return tuple(lines)


def _lost(info: StudyInfo, found: StudySummary) -> list[Figure]:
    lost, base = found.best and found.best.quality_lost, found.baseline
    if lost is None or base is None or not base.quality:
        return []
    allowed = f"{info.tolerance * abs(base.quality):.2g} may be lost ({100 * info.tolerance:g}%)"
    return [Figure(f"{info.metric} lost", lost.short, f"95% interval; {allowed}")]


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
