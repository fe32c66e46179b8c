"""A study to be put under faults: its files, its command lines, and what stands in its folder and its storage."""

import csv
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from halfwise.evaluators.outcome import Outcome
from halfwise.experiments.home import Home, StudyFolder
from halfwise.policies import load_policy
from halfwise.policies.errors import HalfwiseError
from halfwise.search.longer import latest_trials
from halfwise.search.parts import LEVELS, SAMPLED, part_name
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress
from halfwise.search.told import PROPOSAL, Told, is_handed_out, owner_of, told_of

from . import steady_workload

# The failures that kills make must not end the search; what is faster than float32 is trained longer.
_EXPERIMENT = """\
schema: halfwise/experiment/1
workload: steady_workload:make_workload
trials: {trials}
sampler: random
rungs: {rungs}
confirm: none
levels: false
max_failures: 1000
speed: {{priced: a100-tf32-no-launch}}
policies:
  low: "{{default: float16}}"
  low but head: "{{default: float16, layers: {{head: float32}}}}"
  low but one: "{{default: float16, layers: {{layers.2: float32}}}}"
"""


@dataclass(frozen=True)
class FaultyStudy:
    """A study of the steady workload; `storage` is a URL, None for the journal in its folder.

    A storage that several share tells them apart by their names.
    """

    place: Path
    trials: int
    storage: str | None = None
    name: str = "steady"
    rungs: int = 2

    @property
    def folder(self) -> StudyFolder:
        """Where the search leads it."""
        return Home(self.place / "home").study_folder(self.name)

    @property
    def file(self) -> Path:
        """The experiment; the workload lies beside it."""
        return self.place / "steady.yaml"

    @property
    def log(self) -> Path:
        """What its searches print."""
        return self.place / "search.log"

    def prepare(self) -> None:
        """Write the experiment and the workload."""
        self.place.mkdir(parents=True, exist_ok=True)
        shutil.copy(steady_workload.__file__, self.place)
        self.file.write_text(_EXPERIMENT.format(trials=self.trials, rungs=self.rungs), encoding="utf-8")

    def search(self, *options: str) -> tuple[str, ...]:
        """The command that starts it and goes on with it."""
        where = ("--study", self.name, "--home", str(self.folder.path.parent))
        return ("search", str(self.file), *where, *self._storage, *options)

    def worker(self, home: Path, name: str) -> tuple[str, ...]:
        """The command of one more worker, with a home of its own as on another machine."""
        where = ("--home", str(home), "--search-path", str(self.place))
        return ("worker", self.name, *where, "--name", name, *self._storage)

    @property
    def _storage(self) -> tuple[str, ...]:
        return () if self.storage is None else ("--storage", self.storage)


@dataclass(frozen=True)
class Snapshot:
    """What a study's folder holds at one moment; `unreadable` is what cannot be read, in words."""

    outcomes: Mapping[int, Outcome]
    has_front: bool
    has_best: bool
    unreadable: tuple[str, ...] = ()

    @classmethod
    def take(cls, folder: StudyFolder) -> "Snapshot":
        """Read it now."""
        outcomes: dict[int, Outcome] = {}
        unreadable: list[str] = []
        for file in sorted(folder.trials.glob("*/outcome.json")):
            try:
                outcomes[int(file.parent.name)] = Outcome.model_validate_json(file.read_bytes())
            except ValueError as error:
                unreadable.append(f"{file}: {error}")
        unreadable += [*_faults_of_front(folder), *_faults_of_best(folder)]
        has_front, has_best = folder.front_table.exists(), folder.best_policy.exists()
        return cls(outcomes, has_front, has_best, tuple(unreadable))

    def lost_until(self, later: "Snapshot") -> list[str]:
        """The finished trials that a later moment lacks, or has with other figures, in words."""
        said: list[str] = []
        for number, outcome in self.outcomes.items():
            now = later.outcomes.get(number)
            if now is None:
                said.append(f"trial {number} is gone")
            elif not _goes_on(outcome, now):
                said.append(f"trial {number} was {_figures(outcome)}, and is {_figures(now)}")
        return said


@dataclass(frozen=True)
class Standing:
    """What a study's storage holds.

    Trials that count, interrupted ones and those in flight, the number of the process that ran or runs each, how
    often each number was handed out, and everything that is RUNNING, by Optuna study and number.
    """

    counted: tuple[Told, ...]
    interrupted: tuple[Told, ...]
    in_flight: frozenset[int]
    processes: Mapping[int, int]
    handed_out: Counter[int]
    running: frozenset[tuple[str, int]]

    @classmethod
    def look(cls, study: FaultyStudy) -> "Standing":
        """Read the storage now.

        Raises:
            HalfwiseError: it holds no such study.
        """
        address = StorageAddress.parse(study.storage, study.folder.journal_file)
        prefix, storage = address.prefix(study.name), open_storage(address)
        start = part_name(prefix, "")
        names = [each.study_name for each in storage.get_all_studies() if each.study_name.startswith(start)]
        if not names:
            raise HalfwiseError(f"{address} holds no study {study.name}")
        studies = {name: optuna.load_study(study_name=name, storage=storage) for name in names}
        parts = [studies[part_name(prefix, part)] for part in (LEVELS, SAMPLED)]
        trials = [trial for part in parts for trial in latest_trials(part) if is_handed_out(trial)]
        told = [told_of(trial) for trial in trials if trial.state.is_finished()]
        return cls(
            counted=tuple(each for each in told if not each.interrupted),
            interrupted=tuple(each for each in told if each.interrupted),
            in_flight=frozenset(_number(trial) for trial in trials if not trial.state.is_finished()),
            processes={_number(trial): _process(trial) for trial in trials},
            handed_out=Counter(map(_number, trials)),
            running=frozenset(_running(studies)),
        )


def _running(studies: Mapping[str, optuna.Study]) -> Iterator[tuple[str, int]]:
    for name, study in studies.items():
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            yield name, trial.number


def _number(trial: FrozenTrial) -> int:
    return trial.user_attrs[PROPOSAL]["number"]


def _process(trial: FrozenTrial) -> int:
    owner = owner_of(trial)
    return -1 if owner is None else owner.pid


def _goes_on(before: Outcome, now: Outcome) -> bool:
    """Whether it is the same trial, with all that it had come to; it may have been trained longer since."""
    same = (before.policy, before.seed, before.worker) == (now.policy, now.seed, now.worker)
    kept = before.quality_by_steps.items() <= now.quality_by_steps.items()
    return same and kept and (before.status == now.status or before.status == "trained")


def _figures(outcome: Outcome) -> str:
    return f"{outcome.digest} by {outcome.worker}: {outcome.status} {dict(outcome.quality_by_steps)}"


def _faults_of_front(folder: StudyFolder) -> list[str]:
    if not folder.front_table.exists():
        return []
    with folder.front_table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    whole = rows and all(None not in row and None not in row.values() for row in rows)
    return [] if whole else [f"{folder.front_table} is not whole"]


def _faults_of_best(folder: StudyFolder) -> list[str]:
    if not folder.best_policy.exists():
        return []
    try:
        load_policy(folder.best_policy)
    except (HalfwiseError, OSError) as error:
        return [f"{folder.best_policy}: {error}"]
    return []
