"""How a worker joins a study that a search has begun, here or on another machine, and what it is refused for."""

import os
import platform
import re
import tempfile
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts, learn_device
from ..evaluators.device_names import DeviceChoice
from ..evaluators.json_file import read_json, read_value
from ..policies.errors import InputError
from ..search.advisors import Advisor, SamplerAdvisor, SiteAdvisor
from ..search.lease import Owner
from ..search.parts import stored_documents, studies_among, unknown_study
from ..search.proposers import make_proposer
from ..search.samplers import SAMPLERS
from ..search.storage import open_storage, studies_in
from ..search.storage_address import StorageAddress
from ..search.study import Search
from .attempts import Attempts
from .budget import budget_of
from .cost import Ledger
from .crew import holding_place
from .evaluator_of import counting_evaluator, price_row
from .experiment_file import WHERE_AND_WHO, Experiment, load_experiment
from .fingerprint import terms_of, versions_here
from .fixed_policies import fixed_policies
from .float32_repeats import Float32Repeats
from .home import Home, StudyFolder
from .kept_experiment import kept_experiment
from .known_sites import known_sites
from .lessons import lessons_for
from .longer import lengths_for
from .looked_at import LookedAt, kept_look
from .mirror import bring_study, mirror_of
from .progress import Display
from .side_by_side import timing_of
from .space_of import space_of
from .study_file import StudyFile, refuse_other_study
from .worker import Worker
from .workload_source import WorkloadSource, read_source, refuse_other_source

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True)
class Application:
    """What a worker comes with: the study's name and storage, where its files go, where its workload stands.

    `storage` is a URL, None for the journal in the study's folder. `experiment` is a file to be held against the
    study's own. `name` tells the worker from others; it is made up where it is None.
    """

    study: str
    home: Home
    search_path: Path
    storage: str | None = None
    device: DeviceChoice = "auto"
    device_id: int | None = None
    experiment: Path | None = None
    name: str | None = None


def run_worker(application: Application, display: Display) -> int:
    """Make trials until the study has ended or its budget is used up; how many it made.

    It goes on without the search that began the study.

    Raises:
        InputError: there is no such study, or the worker's experiment, workload, versions or device are others.
        HalfwiseError: a worker of that name is at work, or the storage stays away.
    """
    folder = application.home.study_folder(application.study)
    address = StorageAddress.parse(application.storage, folder.journal_file)
    address.refuse_one_worker_only()
    if address.kind == "journal":
        application.home.existing_study(application.study)
    else:
        _bring(application, folder, address)
    experiment = kept_experiment(folder).experiment
    _refuse_other_versions(folder)
    if application.experiment is not None:
        _refuse_other_experiment(application.experiment, experiment)
    source = read_source(experiment.workload, application.search_path)
    refuse_other_source(read_json(WorkloadSource, folder.workload_file), source)
    name = application.name or _made_up_name()
    if not _NAME.fullmatch(name):
        raise InputError(
            f"a worker's name is 1 to 100 letters, digits, '-' or '_', and starts with a letter or a digit, but "
            f"got {name!r}"
        )
    with holding_place(folder.worker_folder(name)):
        worker = _hired(application, name, folder, address, experiment, source)
        return worker.work(display)


def _bring(application: Application, folder: StudyFolder, address: StorageAddress) -> None:
    """The study's files from the storage, into a folder that is the study's or none yet."""
    names = studies_among(studies_in(address))
    if application.study not in names:
        raise unknown_study(address, application.study, names)
    documents = stored_documents(open_storage(address), application.study)
    stored = documents.get(folder.study_file.name)
    if stored is None:
        raise InputError(
            f"study {application.study} in {address} has not begun its trials yet: start the worker when its "
            "search says that trials begin"
        )
    there = read_value(StudyFile, stored, f"{folder.study_file.name} in {address}")
    refuse_other_study(folder, there, str(address), "give this worker another home with --home")
    application.home.prepare()
    folder.create()
    bring_study(folder, documents, anew=not _is_led_from(folder))


def _is_led_from(folder: StudyFolder) -> bool:
    """Whether the study's search has its files in this very folder."""
    if not (folder.lock_file.exists() and folder.study_file.exists()):
        return False
    return read_json(StudyFile, folder.study_file).info.folder == folder.path


def _refuse_other_versions(folder: StudyFolder) -> None:
    before = read_json(StudyFile, folder.study_file).info.versions
    changed = [
        f"{name}: the study's is {before.get(name)}, this worker's is {version}"
        for name, version in versions_here().items()
        if before.get(name) != version
    ]
    if changed:
        raise InputError(
            f"this worker has other versions than the study: {'; '.join(changed)}; install the study's"
        )


def _refuse_other_experiment(file: Path, study: Experiment) -> None:
    """How much is tried, and where, may differ; policies are compared by what they say."""
    ours = load_experiment(file, {})
    policies = {name: str(policy) for name, policy in fixed_policies(ours, file.absolute().parent)}
    theirs = {name: str(policy) for name, policy in fixed_policies(study, file.absolute().parent)}
    amounts = ("trials", "time_limit", "full_runs", "patience", "max_failures")
    left_out = {*WHERE_AND_WHO, *amounts, "study", "policies", "levels"}
    before, now = (each.model_dump(mode="json", exclude=left_out) for each in (study, ours))
    changed = [f"{key}: was {before[key]}, is now {now[key]}" for key in before if before[key] != now[key]]
    changed += [] if policies == theirs else ["the fixed policies differ"]
    if changed:
        raise InputError(
            f"{file} is not the experiment that the study was started with: {'; '.join(changed)}; without "
            "--experiment the worker takes the study's own"
        )


def _made_up_name() -> str:
    host = re.sub(r"[^A-Za-z0-9]+", "-", platform.node()).strip("-")[:60] or "worker"
    return f"{host}-{os.getpid()}-{uuid.uuid4().hex[:4]}"


def _hired(
    application: Application,
    name: str,
    folder: StudyFolder,
    address: StorageAddress,
    experiment: Experiment,
    source: WorkloadSource,
) -> Worker:
    """The worker with all that a trial takes, as the search itself has it."""
    looked, info = kept_look(folder), read_json(StudyFile, folder.study_file).info
    device, survey = looked.on(_device_here(application, looked)), looked.survey
    row = price_row(experiment, device)
    ledger_file = folder.worker_folder(name) / folder.cost_file.name
    evaluator = counting_evaluator(experiment, application.search_path, survey, device, row, Ledger(ledger_file))
    lengths = lengths_for(experiment.rungs, evaluator.steps, survey.full_steps)
    repeats = read_json(Float32Repeats, folder.float32_file) if folder.float32_file.exists() else None
    advisor = _advisor(experiment, looked, device, folder)
    search = Search.create(
        open_storage(address),
        address.prefix(application.study),
        advisor,
        survey.direction,
        fixed_policies(experiment, application.search_path),
        terms_of(experiment, survey, device.target, row, lengths, source),
        Owner.here(name),
    )
    trained = replace(
        evaluator,
        float32_losses=repeats.curves if repeats else (),
        keep_state=len(lengths) > 1 and _is_led_from(folder),
    )
    attempts = Attempts(
        info=info,
        folder=folder,
        search=search,
        evaluator=trained,
        lessons=lessons_for(advisor, repeats, info),
        timing=timing_of(trained, info.speed, experiment.speed_budget_s),
        mirror=mirror_of(address, folder, search, ledger_file),
        worker=name,
    )
    return Worker(attempts, budget_of(experiment, lengths, survey), evaluator.steps, experiment.max_failures)


def _device_here(application: Application, looked: LookedAt) -> DeviceFacts:
    """This machine's device; on the machine that the search has looked at nothing is probed again."""
    if application.device_id is None and looked.machine and looked.machine == Owner.here().boot:
        return looked.device
    choice = looked.device.target if application.device == "auto" else application.device
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        return learn_device(choice, Path(scratch), application.device_id)


def _advisor(experiment: Experiment, looked: LookedAt, device: DeviceFacts, folder: StudyFolder) -> Advisor:
    """Who proposes, as the search itself made it; sites are not priced again."""
    if experiment.sampler in SAMPLERS:
        return SamplerAdvisor(experiment.sampler, space_of(experiment, looked.survey, device), experiment.seed)
    known = known_sites(folder)
    proposer = make_proposer(known.sampler, known.knowledge, known.seed)
    return SiteAdvisor(known.sampler, proposer, known.space, known.knowledge, known.seed)
