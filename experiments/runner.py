"""One search from its experiment to its policy file; read it from `run_search` downwards."""

import importlib.metadata
import platform
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts, learn_device
from ..evaluators.evaluator import Evaluator, survey_workload
from ..evaluators.json_file import read_json, write_json
from ..evaluators.memory_bound import MemoryBound, size_words
from ..evaluators.outcome import Outcome
from ..evaluators.price.device_file import load_devices
from ..evaluators.price.devices import Device, find_device
from ..evaluators.process import Limits
from ..evaluators.survey_result import Survey, SurveyRequest
from ..policies import BUILTIN, Policy, load_policy, save_policy
from ..policies.errors import InputError
from ..search.advisors import SamplerAdvisor
from ..search.study import Proposal, Search
from .conclusion import conclude
from .experiment_file import Experiment, named_policies
from .home import Home, StudyFolder
from .interrupts import uninterrupted
from .progress import Display
from .records import StudyInfo, StudySummary, TrialRecord
from .side_by_side import SideBySide
from .space_of import refuse_policy, refuse_price_of_partial, space_of
from .speed import Measured, Priced, Speed, choose_speed
from .study_file import BASELINE, StudyFile, point_of, read_records, trained_before
from .tracking import Tracker
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
    space = space_of(experiment, survey, device)
    display.note(f"{survey.workload} on {device.target}: {space.describe()}")
    _refuse_bound(experiment, survey)
    advisor = SamplerAdvisor(experiment.sampler, space, experiment.seed)
    search = Search.create(folder.journal_file, advisor, survey.direction, fixed, _terms(experiment, row))
    info = _info(launch, survey, device, folder, row)
    run_id = tracker.begin(info, _earlier_run(folder, tracking_uri))
    write_json(StudyFile(info=info, tracking_uri=tracking_uri, tracking_run=run_id), folder.study_file)
    evaluator = _evaluator(launch, survey, device, row)
    timing = (
        SideBySide(evaluator, info.speed, experiment.speed_budget_s) if isinstance(info.speed, Measured) else None
    )
    try:
        _try_all(experiment, info, folder, search, evaluator, timing, tracker, display)
    except BaseException as error:
        conclude(info, folder, read_records(folder))
        tracker.fail(str(error) or type(error).__name__)
        raise
    summary = conclude(info, folder, read_records(folder))
    if timing is not None:
        summary = _confirm(summary, info, folder, timing, display)
    tracker.finish(summary)
    return summary


def _confirm(
    summary: StudySummary, info: StudyInfo, folder: StudyFolder, timing: SideBySide, display: Display
) -> StudySummary:
    """Take the choice back as long as a fresh measurement does not find it faster; float32 is the last one."""
    while summary.best is not None and summary.best.name != BASELINE and summary.confirmed is None:
        policy = load_policy(folder.trial_folder(summary.best.number) / "policy.yaml")
        if not timing.confirm(summary.best, policy, folder, display):
            break
        summary = conclude(info, folder, read_records(folder))
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
    launch: Launch, survey: Survey, device: DeviceFacts, folder: StudyFolder, row: Device | None
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
        tolerance=experiment.tolerance,
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


def _try_all(
    experiment: Experiment,
    info: StudyInfo,
    folder: StudyFolder,
    search: Search,
    evaluator: Evaluator,
    timing: SideBySide | None,
    tracker: Tracker,
    display: Display,
) -> None:
    done = sum(not told.interrupted for told in search.finished())
    records = read_records(folder)
    display.begin(done, experiment.trials)
    try:
        for _ in range(done, experiment.trials):
            record = _try_one(search, evaluator, timing, folder, records, info.speed)
            if record is None:
                break
            records.append(record)
            with uninterrupted():
                tracker.log_trial(record)
                summary = conclude(info, folder, records)
            display.trial(record, point_of(record, info), summary.best)
    finally:
        display.end()


def _try_one(
    search: Search,
    evaluator: Evaluator,
    timing: SideBySide | None,
    folder: StudyFolder,
    records: Sequence[TrialRecord],
    by: Speed,
) -> TrialRecord | None:
    """Ask, train, measure side by side if the study compares by that, write down, tell; None: nothing is left."""
    with uninterrupted():
        proposal = search.ask()
        if proposal is None:
            return None
        place = folder.trial_folder(proposal.number)
        place.mkdir(parents=True, exist_ok=True)
        save_policy(proposal.policy, place / "policy.yaml")
        outcome = _known(search, proposal, folder)
    if outcome is None:
        outcome = evaluator.evaluate(proposal.policy, proposal.name, place, trained_before(records))
        if timing is not None:
            outcome = timing.timed(outcome, proposal.policy, place, records)
    with uninterrupted():
        write_json(outcome, place / "outcome.json")
        _tell(search, proposal.number, outcome, by.of(outcome))
    return TrialRecord(proposal.number, proposal.name, proposal.policy, outcome, place)


def _known(search: Search, proposal: Proposal, folder: StudyFolder) -> Outcome | None:
    """The outcome of an earlier trial of the very same policy: it would come out the same again."""
    earlier = search.find_told(proposal.policy)
    if earlier is None:
        return None
    outcome = read_json(Outcome, folder.trial_folder(earlier) / "outcome.json")
    note = f"not trained again: the same policy as trial {earlier}"
    return outcome.model_copy(update={"policy_name": proposal.name, "notes": (*outcome.notes, note)})


def _tell(search: Search, number: int, outcome: Outcome, speed: float | None) -> None:
    if outcome.status == "trained" and outcome.quality is not None and speed is not None:
        search.tell(number, outcome.quality, speed)
    elif outcome.status == "failed":
        search.tell_failed(number, outcome.cause or "failed")
    else:
        search.tell_infeasible(number, outcome.cause or "infeasible")
