"""One search from its experiment to its policy file; read it from `run_search` downwards."""

import importlib.metadata
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts
from ..evaluators.json_file import write_json
from ..evaluators.memory_bound import size_words
from ..evaluators.price.devices import Device
from ..evaluators.survey_result import Survey
from ..policies import Policy
from ..policies.errors import HalfwiseError, InputError
from ..search.storage import open_storage
from ..search.storage_address import StorageAddress
from .advice import Situation, float32_of, keep_knowledge, make_advisor, tolerance_of
from .attempts import Attempts
from .budget import Budget, budget_of
from .conclusion import conclude
from .confirming import Confirming
from .cost import Ledger, worker_steps
from .evaluator_of import counting_evaluator, look, price_row
from .experiment_file import Experiment
from .fingerprint import proposer_terms, terms_of
from .fixed_policies import fixed_policies
from .home import Home, StudyFolder
from .interrupts import GOES_ON
from .lessons import lessons_for
from .longer import Longer, lengths_for
from .looked_at import keep_look
from .mirror import mirror_of
from .optimality import concluded
from .progress import Display
from .records import StudyInfo, StudySummary
from .report import write_report
from .resuming import Stored, bring_here
from .side_by_side import timing_of
from .space_of import refuse_policy, refuse_price_of_partial
from .speed import choose_speed
from .study_file import read_records, study_file_of
from .tracking import Tracker
from .trials import Trials
from .workers import Workers
from .workload_source import WorkloadSource, keep_source, read_source


@dataclass(frozen=True)
class Launch:
    """What a person launches: the experiment, where it stands, and the command line that they typed.

    With `resume_anyway` a study goes on although some of its terms have changed (see `fingerprint.MAY_CHANGE`).
    """

    experiment: Experiment
    name: str
    search_path: Path
    home: Home
    command: str
    resume_anyway: bool = False


@dataclass(frozen=True)
class Ground:
    """What is known before anything is trained; `row` is None where speed is measured."""

    fixed: Sequence[tuple[str, Policy]]
    source: WorkloadSource
    device: DeviceFacts
    survey: Survey
    row: Device | None


def run_search(launch: Launch, tracker: Tracker, display: Display) -> StudySummary:
    """Survey, propose, train, tell, and conclude; a study of that name goes on where it stood.

    Every finished trial is on disk before the next one starts. Workers may help, here and on other machines. When
    the search is interrupted or breaks, what was found so far is concluded all the same, and the error goes on.

    Raises:
        InputError: the experiment, the workload or a policy is wrong, or the study was started with other terms.
        HalfwiseError: the device cannot be used, a folder cannot be written, or another search holds the study.
    """
    folder = launch.home.study_folder(launch.name)
    address = StorageAddress.parse(launch.experiment.storage, folder.journal_file)
    workers = Workers.of(launch.experiment, address)
    launch.home.prepare()
    folder.create()
    with folder.locked(), workers.own_share():
        stored = Stored(open_storage(address), address, launch.name, launch.resume_anyway)
        bring_here(stored, folder, display)
        return _search(launch, folder, stored, workers, tracker, display)


def _search(
    launch: Launch, folder: StudyFolder, stored: Stored, workers: Workers, tracker: Tracker, display: Display
) -> StudySummary:
    experiment, ground = launch.experiment, _look_around(launch, workers, display)
    ledger = Ledger(folder.cost_file, others=lambda: worker_steps(folder))
    evaluator = counting_evaluator(
        experiment, launch.search_path, ground.survey, ground.device, ground.row, ledger
    )
    lengths = lengths_for(experiment.rungs, evaluator.steps, ground.survey.full_steps)
    budget = budget_of(experiment, lengths, ground.survey)
    terms = terms_of(experiment, ground.survey, ground.device.target, ground.row, lengths, ground.source)
    stored.refuse({**terms, **proposer_terms(experiment)})
    ledger.note_full(ground.survey.full_steps)
    here = Situation(experiment, evaluator, ground.row, folder)
    repeats = float32_of(here, display)
    advisor = make_advisor(here, repeats, display)
    search = stored.open(advisor, ground.survey.direction, ground.fixed, terms)
    keep_knowledge(here, advisor, repeats)
    keep_source(ground.source, folder)
    keep_look(ground.device, ground.survey, folder)
    info = _info(launch, ground, folder, tolerance_of(experiment, repeats), _bounds(budget, lengths))
    study = study_file_of(folder, info)
    write_json(study, folder.study_file)
    mirror = mirror_of(stored.address, folder, search, folder.cost_file)
    mirror.publish()
    tracker.begin(study)
    timing = timing_of(evaluator, info.speed, experiment.speed_budget_s)
    trained = replace(evaluator, float32_losses=repeats.curves if repeats else (), keep_state=len(lengths) > 1)
    lessons = lessons_for(advisor, repeats, info)
    noise = repeats.noise if repeats else 0.0
    longer = Longer(info, search, trained, lessons, lengths, noise, budget, ledger, mirror)
    attempts = Attempts(info, folder, search, trained, lessons, timing, mirror)
    crew = workers.crew(folder, launch.search_path, stored.address, ground.device.target)
    trials = Trials(attempts, budget, ledger, longer, crew, experiment.max_failures)
    confirming = Confirming(info, folder, evaluator, timing, experiment.confirm)
    with _kept_in_any_case(info, folder, stored, tracker):
        summary = _search_and_confirm(trials, confirming, tracker, display)
        stored.keep_history(folder)
        longer.forget(read_records(folder))
        summary = replace(concluded(info, folder, summary), cost=ledger.cost)
        mirror.level_costs()
        write_report(folder)
    tracker.finish(summary)
    return summary


def _look_around(launch: Launch, workers: Workers, display: Display) -> Ground:
    """Find out what the device, the workload and the policies are, and refuse what cannot come to anything."""
    experiment = launch.experiment
    fixed = fixed_policies(experiment, launch.search_path)
    source = read_source(experiment.workload, launch.search_path)
    device, survey = look(experiment, launch.search_path, display, workers.own_device)
    row = price_row(experiment, device)
    if row is not None:
        refuse_price_of_partial(survey)
    for name, policy in fixed:
        refuse_policy(policy, name, survey, device)
    _refuse_bound(experiment, survey)
    return Ground(fixed, source, device, survey, row)


@contextmanager
def _kept_in_any_case(info: StudyInfo, folder: StudyFolder, stored: Stored, tracker: Tracker) -> Iterator[None]:
    """Should the search be stopped or break here: what was found so far is concluded, and the error goes on."""
    try:
        yield
    except BaseException as error:
        error.add_note(GOES_ON)
        # With a full disk even that fails, and the first error is the one to tell.
        with suppress(HalfwiseError):
            stored.keep_history(folder)
        with suppress(HalfwiseError):
            conclude(info, folder, read_records(folder))
        tracker.fail(str(error) or type(error).__name__)
        raise


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


def _bounds(budget: Budget, lengths: Sequence[int]) -> dict[str, str]:
    return budget.words() | {"rungs": ", ".join(map(str, lengths))}


def _info(
    launch: Launch, ground: Ground, folder: StudyFolder, tolerance: float, bounds: Mapping[str, str]
) -> StudyInfo:
    experiment, device, survey, row = launch.experiment, ground.device, ground.survey, ground.row
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
