"""One search from its experiment to its policy file; read it from `run_search` downwards."""

import importlib.metadata
import platform
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts, learn_device
from ..evaluators.evaluator import Evaluator, survey_workload
from ..evaluators.json_file import read_json, write_json
from ..evaluators.memory_bound import MemoryBound, size_words
from ..evaluators.price.device_file import load_devices
from ..evaluators.price.devices import Device, find_device
from ..evaluators.process import Limits
from ..evaluators.survey_result import Survey, SurveyRequest
from ..policies import BUILTIN, Policy
from ..policies.errors import InputError
from ..search.study import Search
from .advice import Situation, float32_of, make_advisor, tolerance_of
from .conclusion import conclude
from .confirming import Confirming
from .experiment_file import Experiment, named_policies
from .home import Home, StudyFolder
from .lessons import lessons_for
from .progress import Display
from .records import StudyInfo, StudySummary
from .side_by_side import SideBySide
from .space_of import refuse_policy, refuse_price_of_partial
from .speed import Measured, Priced, choose_speed
from .study_file import BASELINE, StudyFile, read_records
from .tracking import Tracker
from .trials import Trials
from .workloads import resolve_reference


@dataclass(frozen=True)
class Launch:
    """What a person launches: the experiment, where it stands, and the command line that they typed."""

    experiment: Experiment
    name: str
    search_path: Path
    home: Home
    command: str


def run_search(launch: Launch, tracker: Tracker, tracking_uri: str | None, display: Display) -> StudySummary:
    """Survey, propose, train, tell, and conclude; a study of that name goes on where it stood.

    Every finished trial is on disk before the next one starts. When the search is interrupted or breaks, what
    was found so far is concluded all the same, and the error goes on.

    Raises:
        InputError: the experiment, the workload or a policy is wrong.
        HalfwiseError: the device cannot be used, a folder cannot be written, or another search holds the study.
    """
    folder = launch.home.study_folder(launch.name)
    launch.home.prepare()
    folder.create()
    with folder.locked():
        return _search(launch, folder, tracker, tracking_uri, display)


def _search(
    launch: Launch, folder: StudyFolder, tracker: Tracker, tracking_uri: str | None, display: Display
) -> StudySummary:
    experiment, fixed = launch.experiment, _fixed_policies(launch)
    device, survey = _look(launch, display)
    row = _price_row(experiment, device)
    if row is not None:
        refuse_price_of_partial(survey)
    for name, policy in fixed:
        refuse_policy(policy, name, survey, device)
    _refuse_bound(experiment, survey)
    evaluator = _evaluator(launch, survey, device, row)
    here = Situation(experiment, evaluator, row, folder)
    repeats = float32_of(here, display)
    advisor = make_advisor(here, repeats, display)
    search = Search.create(folder.journal_file, advisor, survey.direction, fixed, _terms(experiment, row))
    info = _info(launch, survey, device, folder, row, tolerance_of(experiment, repeats))
    run_id = tracker.begin(info, _earlier_run(folder, tracking_uri))
    write_json(StudyFile(info=info, tracking_uri=tracking_uri, tracking_run=run_id), folder.study_file)
    timing = (
        SideBySide(evaluator, info.speed, experiment.speed_budget_s) if isinstance(info.speed, Measured) else None
    )
    trials = Trials(info, folder, search, evaluator, lessons_for(advisor, repeats, info), timing)
    try:
        trials.run(experiment.trials, tracker, display)
        summary = Confirming(info, folder, evaluator, repeats, timing).conclude(display)
    except BaseException as error:
        conclude(info, folder, read_records(folder))
        tracker.fail(str(error) or type(error).__name__)
        raise
    tracker.finish(summary)
    return summary


def _look(launch: Launch, display: Display) -> tuple[DeviceFacts, Survey]:
    experiment = launch.experiment
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        device = learn_device(experiment.device, Path(scratch))
        request = SurveyRequest(
            workload=resolve_reference(experiment.workload),
            search_path=launch.search_path,
            folder=Path(scratch) / "survey",
            target=device.target,
            mode=experiment.mode,
        )
        survey = survey_workload(request, _limits(experiment))
    for note in device.notes(survey.convolves):
        display.note(note)
    if survey.partial is not None:
        display.note(f"partial: only the outputs of layers are seen, graph mode cannot compile: {survey.partial}")
    return device, survey


def _fixed_policies(launch: Launch) -> tuple[tuple[str, Policy], ...]:
    """What is tried before the sampler's proposals: float32, the other levels, the experiment's own policies."""
    experiment = launch.experiment
    levels = (
        (name, policy.replace(mode=experiment.mode))
        for name, policy in BUILTIN.items()
        if experiment.levels or name == BASELINE
    )
    return (*levels, *named_policies(experiment, launch.search_path))


def _info(
    launch: Launch,
    survey: Survey,
    device: DeviceFacts,
    folder: StudyFolder,
    row: Device | None,
    tolerance: float,
) -> StudyInfo:
    experiment = launch.experiment
    speed = choose_speed(experiment.speed, device.target)
    packages = ("mindspore", "optuna", "mlflow", "numpy", "halfwise")
    return StudyInfo(
        name=launch.name,
        workload=experiment.workload,
        command=launch.command,
        folder=folder.path,
        device=device.target,
        versions={name: importlib.metadata.version(name) for name in packages}
        | {"python": platform.python_version()},
        metric=survey.metric,
        direction=survey.direction,
        tolerance=tolerance,
        sampler=experiment.sampler,
        seed=experiment.seed,
        trials_planned=experiment.trials,
        speed_label=speed.label,
        priced_for=row.name if row else None,
        max_memory_bytes=experiment.max_memory,
    )


def _terms(experiment: Experiment, row: Device | None) -> dict[str, list[str]]:
    """What a study that goes on must share with its first half, beyond the space: trials are judged by it."""
    bound = [] if experiment.max_memory is None else [size_words(experiment.max_memory)]
    return {"speed": [f"priced on {row.name}" if row else "measured"], "memory": bound}


def _refuse_bound(experiment: Experiment, survey: Survey) -> None:
    """Say at once that no policy can keep to the memory bound.

    Raises:
        InputError: none could.
    """
    least_bytes, bound_bytes = survey.least_memory_bytes, experiment.max_memory
    if bound_bytes is not None and least_bytes is not None and least_bytes > bound_bytes:
        raise InputError(
            f"max_memory {size_words(bound_bytes)}: no policy of {survey.workload} needs less than "
            f"{size_words(least_bytes)} (priced: weights, gradients and optimizer state stay float32, and saved "
            "activations have at least half its width); allow more, or make the batch smaller"
        )


def _price_row(experiment: Experiment, device: DeviceFacts) -> Device | None:
    """The row of the device table that this search prices for, None where it measures.

    Raises:
        InputError: there is no such row.
    """
    speed = choose_speed(experiment.speed, device.target)
    return find_device(speed.row, load_devices()) if isinstance(speed, Priced) else None


def _evaluator(launch: Launch, survey: Survey, device: DeviceFacts, row: Device | None) -> Evaluator:
    experiment = launch.experiment
    return Evaluator(
        workload=resolve_reference(experiment.workload),
        search_path=launch.search_path,
        survey=survey,
        device=device,
        seed=experiment.seed,
        steps=experiment.steps or survey.trial_steps,
        limits=_limits(experiment),
        price_for=row,
        memory_bound=_memory_bound(experiment, device, row),
    )


def _memory_bound(experiment: Experiment, device: DeviceFacts, row: Device | None) -> MemoryBound | None:
    """What a policy may need: by its price, and by the measured peak too where a study measures an accelerator."""
    if experiment.max_memory is None:
        return None
    measured = row is None and device.target != "CPU"
    return MemoryBound(limit_bytes=experiment.max_memory, kind="measured" if measured else "priced")


def _limits(experiment: Experiment) -> Limits:
    return Limits(experiment.trial_time_limit_s, int(experiment.trial_memory_limit_gib * 2**30))


def _earlier_run(folder: StudyFolder, tracking_uri: str | None) -> str | None:
    """The parent run that this study already has in the same store."""
    if not folder.study_file.exists():
        return None
    earlier = read_json(StudyFile, folder.study_file)
    return earlier.tracking_run if earlier.tracking_uri == tracking_uri else None
