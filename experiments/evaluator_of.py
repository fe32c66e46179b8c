"""What an experiment's policies are tried with: its device, its workload's survey, the evaluator of its trials."""

import tempfile
from dataclasses import replace
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts, learn_device
from ..evaluators.evaluator import Evaluator, survey_workload
from ..evaluators.memory_bound import MemoryBound
from ..evaluators.price.device_file import load_devices
from ..evaluators.price.devices import Device, find_device
from ..evaluators.process import Limits
from ..evaluators.quiet import NoQuiet, quiet_here
from ..evaluators.spending import Spending
from ..evaluators.survey_result import Survey, SurveyRequest
from .experiment_file import Experiment
from .progress import Display
from .speed import Priced, choose_speed
from .workloads import resolve_reference


def look(
    experiment: Experiment, search_path: Path, display: Display, device_id: int | None = None
) -> tuple[DeviceFacts, Survey]:
    """What the device computes and what the workload is, each found out in processes of their own.

    A workload of the user's own is looked for in `search_path` first. `device_id` is which of several devices to
    take, None for the first.

    Raises:
        InputError: the workload is wrong.
        HalfwiseError: the device cannot be used, or the workload cannot be built.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        device = learn_device(experiment.device, Path(scratch), device_id)
        request = SurveyRequest(
            workload=resolve_reference(experiment.workload),
            search_path=search_path,
            folder=Path(scratch) / "survey",
            target=device.target,
            device_id=device.device_id,
            mode=experiment.mode,
        )
        survey = survey_workload(request, _limits(experiment))
    for note in device.notes(survey.convolves):
        display.note(note)
    if survey.partial is not None:
        display.note(f"partial: only the outputs of layers are seen, graph mode cannot compile: {survey.partial}")
    return device, survey


def price_row(experiment: Experiment, device: DeviceFacts) -> Device | None:
    """The row of the device table that the experiment's policies are priced for, None where it measures.

    Raises:
        InputError: there is no such row.
    """
    speed = choose_speed(experiment.speed, device.target)
    return find_device(speed.row, load_devices()) if isinstance(speed, Priced) else None


def evaluator_of(
    experiment: Experiment, search_path: Path, survey: Survey, device: DeviceFacts, row: Device | None
) -> Evaluator:
    """The evaluator of the experiment's trials on this device."""
    return Evaluator(
        workload=resolve_reference(experiment.workload),
        search_path=search_path,
        survey=survey,
        device=device,
        seed=experiment.seed,
        steps=experiment.steps or survey.trial_steps,
        limits=_limits(experiment),
        price_for=row,
        memory_bound=_memory_bound(experiment, device, row),
    )


def counting_evaluator(
    experiment: Experiment,
    search_path: Path,
    survey: Survey,
    device: DeviceFacts,
    row: Device | None,
    spending: Spending,
) -> Evaluator:
    """The evaluator of a search or a worker: its steps are counted, and who measures keeps out of others' way."""
    evaluator = evaluator_of(experiment, search_path, survey, device, row)
    return replace(evaluator, spending=spending, quiet=NoQuiet() if row else quiet_here())


def _memory_bound(experiment: Experiment, device: DeviceFacts, row: Device | None) -> MemoryBound | None:
    """What a policy may need: by its price, and by the measured peak too where a study measures an accelerator."""
    if experiment.max_memory is None:
        return None
    measured = row is None and device.target != "CPU"
    return MemoryBound(limit_bytes=experiment.max_memory, kind="measured" if measured else "priced")


def _limits(experiment: Experiment) -> Limits:
    return Limits(experiment.trial_time_limit_s, int(experiment.trial_memory_limit_gib * 2**30))
