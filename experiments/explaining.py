"""The answers of `halfwise explain`: what a study holds, or a compiled step, put before each question."""

import shlex
from pathlib import Path

from ..evaluators.price.device_file import load_devices
from ..evaluators.price.devices import Device, find_device
from ..policies import BUILTIN
from ..policies.errors import HalfwiseError
from .conclusion import speed_ratio
from .explain import Answer, Subject, why_gradients, why_quality, why_speed
from .explain.quality import QUESTION as QUALITY
from .explain.speed import QUESTION as SPEED
from .inspect_policy import inspect_policy, read_policy
from .looked_at import kept_look

DEFAULT_ROW = "a100-tf32"


def explain_trial(
    subject: Subject, price_for: str | None, device_file: Path | None
) -> tuple[str, tuple[Answer, ...]]:
    """All three questions, from what the study holds.

    Raises:
        InputError: there is nothing to explain, or the device is not known.
    """
    device = find_device(price_for or subject.info.priced_for or DEFAULT_ROW, load_devices(device_file))
    return (
        f"{subject.info.name}, {subject.point.label}",
        (why_quality(subject), _speed(subject, device), why_gradients(subject)),
    )


def explain_policy(
    policy: str, workload: str, price_for: str | None, device_file: Path | None
) -> tuple[str, tuple[Answer, ...]]:
    """Speed from the compiled step; what only a training shows gets the command that shows it.

    Raises:
        InputError: policy or workload are wrong, or the device is not known.
    """
    device = find_device(price_for or DEFAULT_ROW, load_devices(device_file))
    asked, float32 = (inspect_policy(each, workload, device) for each in (read_policy(policy), BUILTIN["O0"]))
    pricing, base = asked.inspection.pricing, float32.inspection.pricing
    speedup = base.step_time_s / pricing.step_time_s if pricing and base else None
    quality = Answer(
        QUALITY,
        "That is not known: this policy was not trained.",
        (),
        "nothing: no trial was made",
        (shlex.join(["halfwise", "localize", "--workload", workload, "--policy", policy]),),
    )
    speed = why_speed(asked.table, device, speedup, pricing.batch_size if pricing else None, workload, policy)
    return f"{policy} on {workload}", (quality, speed)


def _speed(subject: Subject, device: Device) -> Answer:
    policy, workload = str(subject.policy_file), subject.info.workload
    if subject.table is None:
        short = "That is not known: the trial has left no compiled step."
        command = ["halfwise", "price", policy, "--workload", workload, "--price-for", device.name]
        return Answer(SPEED, short, (), "nothing", (shlex.join(command),))
    batch = kept_look(subject.folder).survey.batch_size if subject.folder.survey_file.exists() else None
    try:
        return why_speed(
            subject.table,
            device,
            speed_ratio(subject.point, subject.baseline) if subject.info.priced_for == device.name else None,
            batch,
            workload,
            policy,
            subject.record.outcome.against_float32,
        )
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        # The table is a file of the study, which anybody may have bent.
        raise HalfwiseError(f"the op table of {subject.point.label} does not hold together: {error}") from error
