"""One search from its experiment to its policy file; read it from `run_search` downwards."""

import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts
from ..evaluators.json_file import read_json, write_json
from ..evaluators.memory_bound import size_words
from ..evaluators.price.devices import Device
from ..evaluators.survey_result import Survey
from ..policies import BUILTIN, Policy
from ..policies.errors import InputError
from ..search.study import Search
from .advice import Situation, float32_of, keep_knowledge, make_advisor, tolerance_of
from .budget import budget_of
from .conclusion import conclude
from .confirming import Confirming
from .cost import Ledger
from .evaluator_of import evaluator_of, look, price_row
from .experiment_file import Experiment, named_policies
from .home import Home, StudyFolder
from .lessons import lessons_for
from .longer import Longer, lengths_for
from .optimality import concluded
from .progress import Display
from .records import StudyInfo, StudySummary
from .side_by_side import SideBySide
from .space_of import refuse_policy, refuse_price_of_partial
from .speed import Measured, choose_speed
from .study_file import BASELINE, StudyFile, read_records
from .tracking import Tracker
from .trials import Trials


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
    ledger = Ledger(folder.cost_file)
    device, survey = look(experiment, launch.search_path, display)
    row = price_row(experiment, device)
    if row is not None:
        refuse_price_of_partial(survey)
    for name, policy in fixed:
        refuse_policy(policy, name, survey, device)
    _refuse_bound(experiment, survey)
    evaluator = replace(evaluator_of(experiment, launch.search_path, survey, device, row), spending=ledger)
    lengths = lengths_for(experiment.rungs, evaluator.steps, survey.full_steps)
    budget = budget_of(experiment, lengths, survey)
    ledger.note_full(survey.full_steps)
    here = Situation(experiment, evaluator, row, folder)
    repeats = float32_of(here, display)
    advisor = make_advisor(here, repeats, display)
    search = Search.create(folder.journal_file, advisor, survey.direction, fixed, _terms(experiment, row))
    keep_knowledge(here, advisor, repeats)
    bounds = budget.words() | {"rungs": ", ".join(map(str, lengths))}
    info = _info(launch, survey, device, folder, row, tolerance_of(experiment, repeats), bounds)
    run_id = tracker.begin(info, _earlier_run(folder, tracking_uri))
    write_json(StudyFile(info=info, tracking_uri=tracking_uri, tracking_run=run_id), folder.study_file)
    timing = (
        SideBySide(evaluator, info.speed, experiment.speed_budget_s) if isinstance(info.speed, Measured) else None
    )
    trained = replace(evaluator, float32_losses=repeats.curves if repeats else (), keep_state=len(lengths) > 1)
    lessons = lessons_for(advisor, repeats, info)
    longer = Longer(info, search, trained, lessons, lengths, repeats.noise if repeats else 0.0, budget, ledger)
    trials = Trials(info, folder, search, trained, lessons, timing, budget, ledger, longer)
    try:
        confirming = Confirming(info, folder, evaluator, timing, experiment.confirm)
        summary = _search_and_confirm(trials, confirming, tracker, display)
        longer.forget(read_records(folder))
        summary = replace(concluded(info, folder, summary), cost=ledger.cost)
    except BaseException as error:
        conclude(info, folder, read_records(folder))
        tracker.fail(str(error) or type(error).__name__)
        raise
    tracker.finish(summary)
    return summary


def _search_and_confirm(
    trials: Trials, confirming: Confirming, tracker: Tracker, display: Display
) -> StudySummary:
    """Search and confirm; where the trial that had settled the search does not hold, the search goes on."""
    while True:
        end = trials.run(tracker, display)
        cost = trials.ledger.cost
        if trials.budget.out_of_time(cost):
            display.note("The time is up, so nothing more is confirmed.")
            return conclude(trials.info, trials.folder, read_records(trials.folder))
        summary = replace(confirming, allowance_steps=trials.budget.left_steps(cost)).conclude(display)
        if not trials.refuted(end):
            return summary
        display.note(f"trial {end.settled} did not hold: the search goes on")


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
    bounds: Mapping[str, str],
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
        budget=bounds,
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


def _earlier_run(folder: StudyFolder, tracking_uri: str | None) -> str | None:
    """The parent run that this study already has in the same store."""
    if not folder.study_file.exists():
        return None
    earlier = read_json(StudyFile, folder.study_file)
    return earlier.tracking_run if earlier.tracking_uri == tracking_uri else None
