"""Whether gradients explode or vanish: the loss scale's path, skipped updates, what underflows, where it broke."""

import shlex

from ...policies.rules import believe
from .answer import Answer
from .subject import Subject

QUESTION = "Do gradients explode or vanish?"
_SHOWN = 5
_WORTH_SAYING = 0.05
_OF_GRADIENTS = ("underflow",)


def why_gradients(subject: Subject) -> Answer:
    """From the trial's own curve of loss scales and skipped updates, and from the float32 run's gradients."""
    outcome, scales = subject.record.outcome, subject.record.outcome.loss_scales
    steps = outcome.updates_applied + outcome.updates_skipped
    lines = []
    if scales:
        lines.append(f"loss scale: {scales[0]:g} at first, {min(scales):g} at least, {scales[-1]:g} at the end")
    if steps:
        lines.append(f"updates skipped because something overflowed: {outcome.updates_skipped} of {steps}")
    if outcome.first_non_finite is not None:
        lines.append(f"first non-finite: {outcome.first_non_finite}")
    if outcome.left_float32 is not None:
        lines.append(f"first to leave float32's values: {outcome.left_float32}")
    lines += _underflow(subject)
    rests = "measured in the trial" + ("; underflow by rules over one float32 run" if subject.sensitivity else "")
    command = shlex.join(["halfwise", "sensitivity", "--workload", subject.info.workload])
    return Answer(QUESTION, _short(subject), tuple(lines), rests, (command,))


def _short(subject: Subject) -> str:
    outcome = subject.record.outcome
    if outcome.first_non_finite is not None:
        return f"Something is not finite at {outcome.first_non_finite}."
    if not outcome.updates_applied:
        return "Nothing was trained, so nothing is known of them."
    share = outcome.updates_skipped / (outcome.updates_applied + outcome.updates_skipped)
    if share > 0.1:
        return f"They overflow often: {share:.0%} of the updates were skipped."
    scale = min(outcome.loss_scales, default=1.0)
    if subject.record.policy.loss_scaling.kind != "none" and scale <= 1:
        return "They overflowed until no loss scale was left: what is small in them is lost."
    return f"No: {outcome.updates_applied} updates were applied and {outcome.updates_skipped} skipped."


def _underflow(subject: Subject) -> list[str]:
    if subject.sensitivity is None:
        return []
    precision = subject.record.policy.low_precision
    found = [
        (harm.probability, f"{group.name or 'the network itself'}: {harm.reason}")
        for group in subject.sensitivity.groups
        for harm in believe(group, precision).harms
        if harm.rule in _OF_GRADIENTS and harm.probability >= _WORTH_SAYING
    ]
    return [words for _, words in sorted(found, reverse=True)[:_SHOWN]] or ["no gradient loses much to underflow"]
