"""Whole studies with workers under faults that cross parts: a full disk, a lost MLflow, a database restarted."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGQUIT

import pytest
from mlflow import MlflowClient
from mlflow_servers import MlflowServer
from postgres import Postgres
from small_disk import fill, small_disk

from benchmarks.faults.family import Family
from benchmarks.faults.judging import doubled, last_words
from benchmarks.faults.machines import harvest
from benchmarks.faults.study import FaultyStudy, Snapshot, Standing

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]

TRIALS = 8


@contextmanager
def family() -> Iterator[Family]:
    """The processes of one test, none of which outlives it."""
    members = Family()
    try:
        yield members
    finally:
        members.end()


def await_trials(study: FaultyStudy, search: "subprocess.Popen[bytes]", least: int, log: Path) -> Snapshot:
    """The study once so many trials have finished, three minutes at most."""
    deadline = time.monotonic() + 180
    while len((found := Snapshot.take(study.folder)).outcomes) < least:
        assert search.poll() is None, last_words(log)
        assert time.monotonic() < deadline, last_words(log)
        time.sleep(0.05)
    return found


def assert_whole(study: FaultyStudy, earlier: Snapshot, members: Family) -> None:
    """The study has its budget of trials, each once, among them all that had finished earlier; nothing runs."""
    end, standing = Snapshot.take(study.folder), Standing.look(study)
    assert earlier.lost_until(end) == []
    assert list(doubled(study.trials, end, standing)) == []
    assert end.unreadable == ()
    assert end.has_front
    assert standing.running == frozenset()
    assert members.left(30) == ()


def test_a_disk_that_fills_up_under_two_workers(tmp_path: Path):
    """The search ends with the reason, its worker too; with space again the study is completed."""
    log = tmp_path / "search.log"
    with small_disk(tmp_path / "disk", 24 << 20) as disk, family() as members:
        study = FaultyStudy(disk / "study", TRIALS)
        study.prepare()
        search = members.start(study.search("--workers", "2", "--no-mlflow"), tmp_path, log)
        await_trials(study, search, 2, log)
        filler = _fill_until(lambda: search.poll() is not None, disk)
        assert search.returncode == 1
        words = last_words(log)
        assert "no space" in words.lower()
        assert "start the same command again to go on" in words
        assert "Traceback" not in words
        assert members.left(30) == ()
        found = Snapshot.take(study.folder)
        assert found.unreadable == ()
        assert len(found.outcomes) >= 2
        assert list(study.folder.path.rglob(".*.part*")) == []
        filler.unlink()
        again = members.start(study.search("--workers", "2", "--no-mlflow"), tmp_path, log)
        assert again.wait(600) == 0, last_words(log)
        assert_whole(study, found, members)


def test_a_search_that_is_killed_while_mlflow_is_away(tmp_path: Path):
    """Without its server the study is completed all the same, and `sync` brings every trial, each once."""
    study = FaultyStudy(tmp_path / "study", TRIALS)
    study.prepare()
    server = MlflowServer(tmp_path / "mlflow")
    server.start()
    options = ("--workers", "2", "--tracking-uri", server.url)
    try:
        with family() as members:
            search = members.start(study.search(*options), study.place, study.log)
            await_trials(study, search, 2, study.log)
            server.kill()
            found = await_trials(study, search, 3, study.log)
            search.kill()
            search.wait()
            again = members.start(study.search(*options), study.place, study.log)
            assert again.wait(600) == 0, last_words(study.log)
            assert f"`halfwise sync {study.name}" in study.log.read_text(encoding="utf-8")
            assert_whole(study, found, members)
            server.start()
            for _ in range(2):
                home = str(study.folder.path.parent)
                sync = members.start(("sync", study.name, "--home", home), tmp_path, tmp_path / "sync.log")
                assert sync.wait(200) == 0, last_words(tmp_path / "sync.log")
        assert "Nothing was missing" in last_words(tmp_path / "sync.log")
        assert _trials_at(server.url, study) == [f"{number:03d}" for number in sorted(_numbers(study))]
    finally:
        server.kill()


def test_a_database_that_is_restarted_in_mid_study(tmp_path: Path, postgres: Postgres):
    """Search and worker wait for it, and the study is completed with nothing lost."""
    study = FaultyStudy(tmp_path / "study", TRIALS, postgres.url, name="restarted")
    study.prepare()
    with family() as members:
        search = members.start(study.search("--workers", "2", "--no-mlflow"), study.place, study.log)
        found = await_trials(study, search, 2, study.log)
        postgres.stop(SIGQUIT)
        try:
            time.sleep(3)
        finally:
            postgres.start()
        assert search.wait(600) == 0, last_words(study.log)
        assert_whole(study, found, members)
        assert list((study.folder.path / "workers").glob("*/output.log")) != []


def test_four_workers_with_folders_of_their_own(tmp_path: Path, postgres: Postgres):
    """Over one database 4 x 10 trials are made; none is lost or has a double number, a killed worker's returns."""
    found = harvest(tmp_path, postgres.url, 4, 40, print)
    assert found.lost == ()
    assert found.doubled == ()
    assert found.running == ()
    assert found.returned
    assert sum(found.by_worker.values()) == 40
    # The killed one may have finished none.
    assert len(found.by_worker) >= 3


def _fill_until(over: Callable[[], bool], disk: Path) -> Path:
    """Leave no free byte, whatever is given back meanwhile."""
    while True:
        filler = fill(disk)
        if over():
            return filler
        time.sleep(0.02)


def _numbers(study: FaultyStudy) -> set[int]:
    return set(Snapshot.take(study.folder).outcomes)


def _trials_at(uri: str, study: FaultyStudy) -> list[str]:
    """The numbers of the study's trials that a server has, as often as it has them."""
    client = MlflowClient(uri)
    study_id = json.loads(study.folder.study_file.read_text(encoding="utf-8"))["study_id"]
    experiments = [each.experiment_id for each in client.search_experiments()]
    runs = client.search_runs(experiments, f"tags.`halfwise.study_id` = '{study_id}'")
    return sorted(str(run.info.run_name).split()[0] for run in runs if run.info.run_name != study.name)
