import itertools
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from finished_study import add_repeats, add_trial, study_info
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow_servers import MlflowServer, Relay, relay_to

from halfwise.evaluators.json_file import write_json
from halfwise.experiments.conclusion import conclude
from halfwise.experiments.cost import Ledger
from halfwise.experiments.home import Home
from halfwise.experiments.records import StudySummary
from halfwise.experiments.study_file import StudyFile, read_records
from halfwise.experiments.sync import sync_study
from halfwise.experiments.tracking_background import BackgroundTracker
from halfwise.experiments.tracking_file import read_tracking
from halfwise.experiments.tracking_mlflow import MlflowCopy
from halfwise.policies.errors import HalfwiseError

# What differs between two copies of one study: ids, times, and where it was run.
# The runs of a study of three levels once the front is known; until then a trial bears no figures in its name.
AT_THE_END = ("000 O0", "001 O1 1.01x +0.0%", "002 O2 1.02x +0.0%", "s")
_OF_THE_COPY = (
    "mlflow.parentRunId",
    "mlflow.user",
    "mlflow.source.",
    "mlflow.artifactLocation",
    "mlflow.log-model.",
)


class Search:
    """A search whose trials are made up: it writes what a real one does, in the same order."""

    def __init__(self, home: Home, tracker: BackgroundTracker | None, workload: str = "w") -> None:
        self.folder = home.study_folder("s")
        self.folder.create()
        self.tracker = tracker
        self.ledger = Ledger(self.folder.cost_file)
        self.study = StudyFile(info=study_info(self.folder, workload=workload))
        write_json(self.study, self.folder.study_file)
        add_repeats(self.folder, 0.90, 0.905, 0.91)
        if tracker is not None:
            tracker.begin(self.study)

    def try_levels(self, *numbers: int) -> None:
        """Trials of the built-in levels by number: O0, O1, O2, O3."""
        for number in numbers:
            add_trial(self.folder, number, f"O{number}", 100.0 + number, 0.9, seed=1)
            self.ledger.add(20)
            if self.tracker is not None:
                self.tracker.log_trial(read_records(self.folder)[-1])

    def end(self) -> StudySummary:
        """Write down why it ends, conclude, and tell the tracker."""
        self.ledger.note_end("all trials were made")
        summary = conclude(self.study.info, self.folder, read_records(self.folder))
        if self.tracker is not None:
            self.tracker.finish(summary)
        return summary


def at_once(url: str, lines: list[str]) -> BackgroundTracker:
    """A tracker whose clock goes on by a quarter of a second each time that it is read."""
    clock = itertools.count(step=0.25)
    return BackgroundTracker(MlflowCopy(url, Path("/not-used")), lines.append, lambda: next(clock))


def picture(client: MlflowClient, study: StudyFile) -> dict[str, Any]:
    """All that a store holds of a study, by the names of its runs, without what differs between two stores."""
    experiments = [each.experiment_id for each in client.search_experiments()]
    runs = client.search_runs(experiments, f"tags.`halfwise.study_id` = '{study.study_id}'")
    names = [str(run.info.run_name) for run in runs]
    assert len(set(names)) == len(names), f"doubled: {sorted(names)}"
    return {str(run.info.run_name): _of_run(client, run) for run in runs}


def _of_run(client: MlflowClient, run: Any) -> dict[str, Any]:
    run_id = run.info.run_id
    return {
        "status": run.info.status,
        "params": run.data.params,
        "tags": {key: value for key, value in run.data.tags.items() if not key.startswith(_OF_THE_COPY)},
        "points": {
            key: sorted((point.step, point.value) for point in client.get_metric_history(run_id, key))
            for key in run.data.metrics
        },
        "files": sorted((file.path, file.file_size) for file in client.list_artifacts(run_id)),
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A store that is always there, in a file."""
    home = Home(tmp_path_factory.mktemp("store"))
    home.prepare()
    return home


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MlflowServer]:
    """A real MLflow server."""
    server = MlflowServer(tmp_path_factory.mktemp("server"))
    try:
        server.start()
        yield server
    finally:
        server.kill()


@pytest.fixture
def relay(server: MlflowServer) -> Iterator[Relay]:
    """A relay before the server."""
    with relay_to(server.url) as relay:
        yield relay


def whole(store: Home, search: Search) -> dict[str, Any]:
    """What the study looks like in a store that was there all the time."""
    sync_study(search.folder, MlflowCopy(store.tracking_uri, store.artifact_root))
    return picture(MlflowClient(store.tracking_uri), search.study)


def nobody() -> str:
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_store_that_is_there_has_everything_at_the_end(store: Home, tmp_path: Path):
    """A search beside a store that answers leaves nothing for `sync`, says nothing and has waited for nothing."""
    lines: list[str] = []
    tracker = BackgroundTracker(MlflowCopy(store.tracking_uri, store.artifact_root), lines.append)
    search = Search(Home(tmp_path), tracker)
    search.try_levels(0, 1, 2)
    search.end()
    assert lines == []
    assert tracker.lost_s == 0
    found = picture(MlflowClient(store.tracking_uri), search.study)
    assert sorted(found) == [*AT_THE_END]
    assert {each["status"] for each in found.values()} == {"FINISHED"}
    kept = read_tracking(search.folder)
    assert kept is not None
    assert MlflowClient(store.tracking_uri).get_run(str(kept.run)).info.run_name == "s"
    brought = sync_study(search.folder, MlflowCopy(store.tracking_uri, store.artifact_root))
    assert str(brought) == f"Nothing was missing. MLflow at {store.tracking_uri} has all of the study: 3 trials."
    assert picture(MlflowClient(store.tracking_uri), search.study) == found


def test_server_that_is_never_there_costs_five_seconds_at_most(store: Home, tmp_path: Path):
    """Nobody listens: two lines say so, the wait is bounded, and `sync` to another store brings all, once."""
    lines: list[str] = []
    url = nobody()
    tracker = at_once(url, lines)
    search = Search(Home(tmp_path), tracker)
    search.try_levels(0, 1, 2)
    until(lambda: bool(lines))
    search.end()
    assert 0 < tracker.lost_s <= 5
    cause, command = "could not open the study's run: Connection refused", f"`halfwise sync s --home {tmp_path}`"
    assert lines == [
        f"MLflow at {url} {cause}; the search goes on, and tries again",
        f"MLflow at {url} {cause}: 3 trials are not there yet; {command} brings what is missing",
    ]
    brought = sync_study(search.folder, MlflowCopy(store.tracking_uri, store.artifact_root))
    assert (brought.trials, brought.conclusion) == ((0, 1, 2), True)
    assert str(brought).startswith("Brought 3 trials (0-2) and what the study came to. MLflow at sqlite:///")
    found = picture(MlflowClient(store.tracking_uri), search.study)
    assert sorted(found) == [*AT_THE_END]
    again = sync_study(search.folder, MlflowCopy(store.tracking_uri, store.artifact_root))
    assert (again.trials, again.conclusion) == ((), False)
    assert picture(MlflowClient(store.tracking_uri), search.study) == found


def test_silent_server_costs_five_seconds_at_most(tmp_path: Path):
    """A server that takes requests and never answers is waited for no longer than one that is not there."""
    lines: list[str] = []
    with relay_to(nobody()) as relay:
        relay.manner = "is silent"
        tracker = at_once(relay.url, lines)
        search = Search(Home(tmp_path), tracker)
        search.try_levels(0)
        assert relay.asked.wait(60)
        search.end()
        assert 0 < tracker.lost_s <= 5
    (line,) = lines
    assert line.startswith(f"MLflow at {relay.url} did not answer: 1 trial is not there yet; `halfwise sync s ")


def test_search_that_broke_says_why_in_the_store(store: Home, tmp_path: Path):
    """An error that ended the search is its status and description, from the search or from `sync`; also later."""
    lines: list[str] = []
    search = Search(Home(tmp_path), at_once(nobody(), lines))
    search.try_levels(0)
    assert search.tracker is not None
    search.tracker.fail("the lights went out")
    for _ in range(2):
        sync_study(search.folder, MlflowCopy(store.tracking_uri, store.artifact_root))
        study = picture(MlflowClient(store.tracking_uri), search.study)["s"]
        assert study["status"] == "FAILED"
        assert study["tags"]["mlflow.note.content"].startswith("**The search ended early:** the lights went out")


def test_killed_search_is_completed(store: Home, tmp_path: Path):
    """A search that was killed before it wrote a trial to the store has it there after `sync` or a restart."""
    home, uri = Home(tmp_path), store.tracking_uri
    killed = Search(home, None)
    killed.try_levels(0, 1)
    brought = sync_study(killed.folder, MlflowCopy(uri, store.artifact_root))
    assert brought.trials == (0, 1)
    study = picture(MlflowClient(uri), killed.study)["s"]
    assert study["status"] == "FAILED"
    assert "it was broken off from outside" in study["tags"]["mlflow.note.content"]
    killed.try_levels(2)
    tracker = BackgroundTracker(MlflowCopy(uri, store.artifact_root), print)
    tracker.begin(killed.study)
    killed.tracker = tracker
    killed.end()
    found = picture(MlflowClient(uri), killed.study)
    assert sorted(found) == [*AT_THE_END]
    assert found["s"]["status"] == "FINISHED"


def test_two_do_not_write_one_study(store: Home, tmp_path: Path):
    """While a search holds the study, `sync` says that the search brings it."""
    search = Search(Home(tmp_path), None)
    with search.folder.locked(), pytest.raises(HalfwiseError, match=r"a search is running in .*/s: it brings"):
        sync_study(search.folder, MlflowCopy(store.tracking_uri, store.artifact_root))


@pytest.mark.full
@pytest.mark.parametrize("manner", ["refuses", "is silent"])
def test_server_lost_and_back_has_everything(store: Home, relay: Relay, tmp_path: Path, manner: Any, monkeypatch):
    """What came while the server was away arrives in order when it is back, and nothing is there twice."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "5")
    lines: list[str] = []
    tracker = BackgroundTracker(MlflowCopy(relay.url, Path("/not-used")), lines.append)
    search = Search(Home(tmp_path), tracker)
    search.try_levels(0)
    until(lambda: has(relay.url, search, "000 O0"))
    relay.manner = manner
    search.try_levels(1, 2)
    until(lambda: bool(lines))
    assert lines[0].endswith("; the search goes on, and tries again")
    relay.manner = "passes"
    search.try_levels(3)
    search.end()
    assert lines[1:] == [f"MLflow at {relay.url} answers again."]
    assert picture(MlflowClient(relay.url), search.study) == whole(store, search)


@pytest.mark.full
@pytest.mark.parametrize("manner", ["refuses", "is silent"])
def test_server_lost_for_good_is_completed_by_sync(store: Home, relay: Relay, tmp_path: Path, manner: Any):
    """A server that is lost in the middle costs a bounded wait; `sync` completes what it has, with equal runs."""
    lines: list[str] = []
    tracker = at_once(relay.url, lines)
    search = Search(Home(tmp_path), tracker)
    search.try_levels(0, 1)
    until(lambda: has(relay.url, search, "001 O1"))
    relay.manner = manner
    search.try_levels(2)
    search.end()
    assert tracker.lost_s <= 5
    assert "not there yet; `halfwise sync s " in lines[-1]
    relay.manner = "passes"
    before = {name: run["points"] for name, run in picture(MlflowClient(relay.url), search.study).items()}
    brought = sync_study(search.folder, MlflowCopy(relay.url, Path("/not-used")))
    assert 2 in brought.trials
    found = picture(MlflowClient(relay.url), search.study)
    assert found == whole(store, search)
    assert before["000 O0"].items() <= found["000 O0"]["points"].items()


@pytest.mark.full
def test_lost_answers_make_no_doubles(store: Home, relay: Relay, tmp_path: Path):
    """Where the server makes a run and its answer is lost, the run is found, not made again."""
    relay.losing = {"runs/create": 3, "runs/log-batch": 2, "runs/update": 1, "experiments/create": 1}
    lines: list[str] = []
    tracker = BackgroundTracker(MlflowCopy(relay.url, Path("/not-used")), lines.append)
    search = Search(Home(tmp_path), tracker, workload="another one")
    search.try_levels(0, 1, 2, 3)
    until(lambda: not any(relay.losing.values()))
    search.end()
    assert picture(MlflowClient(relay.url), search.study) == whole(store, search)


@pytest.mark.full
def test_server_that_is_killed_and_started_again(store: Home, tmp_path: Path):
    """A server that is absent at the start and killed in the middle has everything in the end."""
    server = MlflowServer(tmp_path / "server")
    lines: list[str] = []
    tracker = BackgroundTracker(MlflowCopy(server.url, Path("/not-used")), lines.append)
    search = Search(Home(tmp_path / "home"), tracker)
    search.try_levels(0)
    until(lambda: bool(lines))
    try:
        server.start()
        until(lambda: has(server.url, search, "000 O0"))
        server.kill()
        search.try_levels(1, 2)
        server.start()
        search.end()
        assert picture(MlflowClient(server.url), search.study) == whole(store, search)
    finally:
        server.kill()


def has(url: str, search: Search, name: str) -> bool:
    """Whether the server has all of a run; no if it is too busy to tell."""
    try:
        runs = MlflowClient(url).search_runs(["1"], f"tags.`halfwise.study_id` = '{search.study.study_id}'")
    except MlflowException:
        return False
    return any(run.info.run_name == name and "halfwise.copied" in run.data.tags for run in runs)


def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds; pytest's own limit ends what never does."""
    while not holds():
        time.sleep(0.1)
