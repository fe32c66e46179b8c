"""Studies that several processes work on, as people start them: on one machine, and through PostgreSQL."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from meeting_workloads import ENOUGH, PLACE, arrived
from postgres import Postgres

from halfwise.experiments.home import StudyFolder
from halfwise.experiments.study_file import read_records
from halfwise.search.parts import SAMPLED, part_name
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress

SUPPORT = Path(__file__).parents[1] / "support"
PROGRAM = Path(sys.executable).with_name("halfwise")
TRIALS = 6
EXPERIMENT = """\
schema: halfwise/experiment/1
workload: meeting_workloads:make_{workload}
levels: false
sampler: random
steps: 10
rungs: 1
confirm: none
"""


class Scene:
    """A folder with an experiment and its workload, a home, and the place where trials meet."""

    def __init__(self, path: Path, workload: str = "meeting") -> None:
        self.path, self.meeting = path, path / "meeting"
        self.meeting.mkdir(parents=True)
        for name in ("tiny_workloads.py", "meeting_workloads.py"):
            (path / name).write_text((SUPPORT / name).read_text(encoding="utf-8"))
        (path / "small.yaml").write_text(EXPERIMENT.format(workload=workload), encoding="utf-8")
        self.folder = StudyFolder(path / "home" / "small")

    def start(self, *arguments: str, meeting: Path | None = None, **environment: str) -> "subprocess.Popen[str]":
        """The program in this folder."""
        return subprocess.Popen(
            [PROGRAM, *arguments, "--home", "home"],
            cwd=self.path,
            env={**os.environ, PLACE: str(meeting or self.meeting), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def search(self, *options: str, **more: Any) -> "subprocess.Popen[str]":
        """A search without MLflow."""
        return self.start("search", "small.yaml", "--trials", str(TRIALS), "--no-mlflow", *options, **more)

    def until(self, arrivals: int) -> None:
        """Wait until so many trials have come to the meeting."""
        while len(arrived(self.meeting)) < arrivals:
            time.sleep(0.05)

    def enough(self) -> None:
        """Let all trials go on."""
        (self.meeting / ENOUGH).touch()

    def makers(self) -> dict[int, str | None]:
        """Who made each trial."""
        return {record.number: record.outcome.worker for record in read_records(self.folder)}

    def running(self) -> int:
        """Trials that the journal has running."""
        states = [trial.state.is_finished() for trial in trials_in(self.folder.journal_file)]
        return states.count(False)


def trials_in(journal: Path) -> list[Any]:
    """The sampler's trials and the levels, as Optuna has them."""
    storage = open_storage(StorageAddress.parse(None, journal))
    names = [part_name("", part) for part in ("levels", SAMPLED)]
    return [trial for name in names for trial in storage.get_all_trials(storage.get_study_id_from_name(name))]


def ended(process: "subprocess.Popen[str]", code: int = 0) -> str:
    """What the program printed, once it is over."""
    printed, _ = process.communicate(timeout=280)
    assert process.returncode == code, printed
    return printed


def test_two_workers_make_one_study(tmp_path: Path) -> None:
    """Both make trials at the same time; every number is there once, the budget is kept, and the end is one."""
    scene = Scene(tmp_path)
    printed = ended(scene.search("--workers", "2"))
    makers = scene.makers()
    assert sorted(makers) == list(range(TRIALS))
    assert set(makers.values()) == {None, "worker-1"}
    assert f"The search ended: all {TRIALS} trials were made (trials)." in printed
    assert scene.running() == 0
    steps = sum(record.outcome.steps_run for record in read_records(scene.folder))
    assert f"({steps} training steps)" in printed
    ledgers = [json.loads(file.read_text())["steps"] for file in scene.folder.path.rglob("cost.json")]
    assert len(ledgers) == 2
    assert sum(ledgers) == steps
    output = (scene.folder.worker_folder("worker-1") / "output.log").read_text()
    assert f"{list(makers.values()).count('worker-1')} trials made by worker-1; the study has ended" in output or (
        f"trials made by worker-1; all {TRIALS} trials were made" in output
    )


@pytest.mark.full
def test_a_killed_workers_trial_returns(tmp_path: Path) -> None:
    """Its trial is proposed again at once, the worker is started again, and nothing is lost or counted twice."""
    scene = Scene(tmp_path, "gate")
    search = scene.search("--workers", "2")
    scene.until(2)
    worker = next(child for child in psutil.Process(search.pid).children() if "worker-1" in child.cmdline())
    worker.send_signal(signal.SIGKILL)
    scene.enough()
    printed = ended(search)
    assert "worker-1 ended with exit code -9: " in printed
    assert "; it is started again" in printed
    assert len(scene.makers()) == TRIALS
    assert scene.running() == 0
    assert not psutil.pid_exists(worker.pid)
    interrupted = [trial for trial in trials_in(scene.folder.journal_file) if trial.state.name == "FAIL"]
    assert len(interrupted) == 1


@pytest.mark.full
def test_workers_go_on_without_their_search_and_the_next_one_concludes(tmp_path: Path) -> None:
    """The search is killed: its worker makes the rest of the trials, and the next start trains nothing anew."""
    scene = Scene(tmp_path, "gate")
    search = scene.search("--workers", "2")
    scene.until(2)
    search.send_signal(signal.SIGKILL)
    search.wait()
    scene.enough()
    output = scene.folder.worker_folder("worker-1") / "output.log"
    while "trials made by worker-1; " not in output.read_text():
        time.sleep(0.1)
    before = {file: file.read_bytes() for file in scene.folder.path.rglob("outcome.json")}
    assert len(before) == TRIALS
    assert set(scene.makers().values()) == {"worker-1"}
    printed = ended(scene.search("--workers", "2"))
    assert f"The search ended: all {TRIALS} trials were made (trials)." in printed
    assert {file: file.read_bytes() for file in scene.folder.path.rglob("outcome.json")} == before
    assert scene.running() == 0
    assert (scene.folder.path / "front.csv").read_text().count("\n") == TRIALS + 1


@pytest.mark.full
def test_a_search_told_to_end_ends_its_workers(tmp_path: Path) -> None:
    """After SIGTERM no process of the search is left, no trial is running, and what finished is kept."""
    scene = Scene(tmp_path, "gate")
    search = scene.search("--workers", "2")
    scene.until(2)
    family = psutil.Process(search.pid).children(recursive=True)
    search.send_signal(signal.SIGTERM)
    printed = ended(search, code=143)
    assert "start the same command again to go on" in printed
    psutil.wait_procs(family, timeout=60)
    assert not [process for process in family if process.is_running()]
    assert scene.running() == 0
    scene.enough()
    ended(scene.search())
    assert len(scene.makers()) == TRIALS


@pytest.mark.full
def test_a_study_that_has_changed_goes_on_only_where_somebody_insists(tmp_path: Path) -> None:
    """Another text of the workload is refused with both ways on, and both work; another length with one only."""
    scene = Scene(tmp_path)
    scene.enough()
    ended(scene.search("--trials", "2"))
    file = scene.path / "meeting_workloads.py"
    file.write_text(file.read_text(encoding="utf-8") + "# another text\n", encoding="utf-8")
    refused = ended(scene.search("--trials", "3"), code=2)
    assert "workload source: was meeting_workloads.py (" in refused
    assert "--new" in refused
    assert "--resume-anyway" in refused
    assert len(scene.makers()) == 2
    ended(scene.search("--trials", "3", "--resume-anyway"))
    assert len(scene.makers()) == 3
    ended(scene.search("--trials", "3"))
    beside = ended(scene.search("--trials", "1", "--new"))
    assert "home/small-2/best-policy.yaml" in beside
    assert len(scene.makers()) == 3
    text = (scene.path / "small.yaml").read_text(encoding="utf-8")
    (scene.path / "small.yaml").write_text(text.replace("steps: 10", "steps: 12"), encoding="utf-8")
    refused = ended(scene.search("--resume-anyway"), code=2)
    assert "steps: was 10, is now 12" in refused
    assert "--resume-anyway" not in refused


@pytest.mark.full
def test_two_machines_share_a_study_through_postgresql(tmp_path: Path, postgres: Postgres) -> None:
    """From two folders and homes that see nothing of each other; afterwards both hold every outcome."""
    here, there = Scene(tmp_path / "here"), Scene(tmp_path / "there")
    search = here.search("--storage", postgres.url)
    here.until(1)
    worker = there.start("worker", "small", "--name", "far", meeting=here.meeting, HALFWISE_STORAGE=postgres.url)
    far, printed = ended(worker), ended(search)
    makers = here.makers()
    assert sorted(makers) == list(range(TRIALS))
    assert set(makers.values()) == {None, "far"}
    made = list(makers.values()).count("far")
    assert f"{made} trials made by far" in far or f"{made} trial made by far" in far
    assert there.makers().items() <= makers.items()
    assert {number for number, maker in makers.items() if maker == "far"} <= set(there.makers())
    assert f"({TRIALS * 10} training steps)" in printed
    word = "s3cr3t"
    files = [file for scene in (here, there) for file in scene.folder.path.rglob("*") if file.is_file()]
    assert not [file for file in files if word.encode() in file.read_bytes()]
    assert word not in printed + far

    third = Scene(tmp_path / "third")
    taken = ended(third.search("--storage", postgres.url))
    assert f"holds this study, which was led from {here.folder.path} so far: it goes on from here" in taken
    assert third.makers() == makers
    assert f"({TRIALS * 10} training steps)" in taken

    late = ended(there.start("worker", "small", HALFWISE_STORAGE=postgres.url))
    assert "0 trials made by" in late
    assert f"the study has ended: all {TRIALS} trials were made (trials)" in late
    unknown = ended(there.start("worker", "smal", HALFWISE_STORAGE=postgres.url), code=2)
    assert "there is no study 'smal' in postgresql://" in unknown
    assert "did you mean 'small'?" in unknown
    file = there.path / "tiny_workloads.py"
    file.write_text(file.read_text(encoding="utf-8").replace("0.05", "0.01", 1), encoding="utf-8")
    other = ended(there.start("worker", "small", HALFWISE_STORAGE=postgres.url), code=2)
    assert "the workload meeting_workloads:make_meeting is not the one that the study was started with" in other
    assert "-        return nn.Adam(parameters, learning_rate=0.05)" in other
    assert "+        return nn.Adam(parameters, learning_rate=0.01)" in other


def test_a_worker_without_a_study_is_told_what_there_is(tmp_path: Path) -> None:
    """Exit code 2: without a storage it looks in the home."""
    scene = Scene(tmp_path)
    printed = ended(scene.start("worker", "nothing"), code=2)
    assert "there is no study 'nothing' in" in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workers", "2", "--storage", "sqlite:///studies.db"], "sqlite locks its whole file for each write"),
        (
            ["--workers", "3", "--devices", "0,1"],
            "3 workers and 2 devices: there must be one device for each worker",
        ),
        (["--devices", "0,0"], "--devices: must name each device once, but got 0, 0"),
        (["--devices", "x"], "--devices: "),
        (["--storage", "redis://:s3cr3t@host/0"], "are unpickled"),
    ],
)
def test_what_cannot_be_shared_is_refused_at_once(tmp_path: Path, options: list[str], words: str) -> None:
    """Exit code 2 and one line, before anything is looked at; it shows no password."""
    scene = Scene(tmp_path)
    printed = ended(scene.search(*options), code=2)
    assert words in printed
    assert "s3cr3t" not in printed
    assert not scene.folder.path.exists()
