"""Whole searches whose MLflow is away, there, or asked for later, and `halfwise sync` as people run it."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow_servers import MlflowServer, relay_to

pytestmark = pytest.mark.full

SUPPORT = Path(__file__).parents[1] / "support"
PROGRAM = Path(sys.executable).with_name("halfwise")
NOBODY = "http://127.0.0.1:9"


def write_experiment(folder: Path, trials: int) -> None:
    """An experiment on the tiny workload."""
    (folder / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    (folder / "tiny.yaml").write_text(
        "schema: halfwise/experiment/1\nworkload: tiny_workloads:make_tiny\n"
        f"trials: {trials}\nsteps: 20\nsampler: random\nconfirm: none\n",
        encoding="utf-8",
    )


def halfwise(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """One command of the program, with the folder's own home."""
    line = [PROGRAM, *command, "--home", "home"]
    return subprocess.run(line, capture_output=True, text=True, cwd=folder, timeout=280, check=False)


def runs_of(uri: str, folder: Path) -> dict[str, Any]:
    """Status and number of loss values of the study's runs by their names, of which none is there twice."""
    client = MlflowClient(uri)
    study = json.loads((folder / "home" / "tiny" / "study.json").read_text())["study_id"]
    experiments = [each.experiment_id for each in client.search_experiments()]
    runs = client.search_runs(experiments, f"tags.`halfwise.study_id` = '{study}'")
    assert len({run.info.run_name for run in runs}) == len(runs)
    return {
        str(run.info.run_name): (run.info.status, len(client.get_metric_history(run.info.run_id, "loss")))
        for run in runs
    }


def test_a_search_without_mlflow_is_brought_later(tmp_path: Path):
    """`sync` brings a search that was made with --no-mlflow, says what, and finds nothing to bring after that."""
    write_experiment(tmp_path, trials=5)
    assert halfwise(tmp_path, "search", "tiny.yaml", "--no-mlflow").returncode == 0
    away = halfwise(tmp_path, "sync", "tiny", "--tracking-uri", NOBODY)
    assert away.returncode == 1
    assert away.stderr.startswith(f"halfwise: MLflow at {NOBODY} could not open the study's run: ")
    first = halfwise(tmp_path, "sync", "tiny")
    assert first.returncode == 0, first.stderr
    uri = f"sqlite:///{tmp_path}/home/mlflow.db"
    assert first.stdout == (
        f"Brought 5 trials (0-4) and what the study came to. MLflow at {uri} has all of the study: 5 trials.\n"
    )
    found = runs_of(uri, tmp_path)
    assert len(found) == 6
    assert found["tiny"] == ("FINISHED", 0)
    assert found["000 O0"] == ("FINISHED", 20)
    again = halfwise(tmp_path, "sync", "tiny")
    assert again.stdout == f"Nothing was missing. MLflow at {uri} has all of the study: 5 trials.\n"
    unknown = halfwise(tmp_path, "sync", "tinny")
    assert unknown.returncode == 2
    assert "did you mean 'tiny'?" in unknown.stderr


def test_a_search_goes_on_without_its_mlflow_server(tmp_path: Path):
    """When nothing answers at the tracking URI, two lines say so, and the study is complete on disk."""
    write_experiment(tmp_path, trials=5)
    result = halfwise(tmp_path, "search", "tiny.yaml", "--tracking-uri", NOBODY)
    assert result.returncode == 0, result.stderr
    first, last = (line for line in result.stdout.splitlines() if line.startswith(f"MLflow at {NOBODY} "))
    assert first.endswith("; the search goes on, and tries again")
    command = f"`halfwise sync tiny --home {tmp_path}/home`"
    assert last.endswith(f"5 trials are not there yet; {command} brings what is missing")
    assert len(list((tmp_path / "home" / "tiny" / "trials").glob("*/outcome.json"))) == 5


def test_a_search_that_is_killed_before_it_wrote_to_mlflow_is_completed(tmp_path: Path):
    """SIGKILL between outcome and MLflow loses nothing: `sync` brings it, and the search goes on in that run."""
    write_experiment(tmp_path, trials=7)
    study, uri = tmp_path / "home" / "tiny", f"sqlite:///{tmp_path}/home/mlflow.db"
    with relay_to(NOBODY) as relay:
        relay.manner = "is silent"
        line = [PROGRAM, "search", "tiny.yaml", "--tracking-uri", relay.url, "--home", "home"]
        search = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
        while len(list(study.glob("trials/*/outcome.json"))) < 2:
            assert search.poll() is None
            time.sleep(0.02)
        search.kill()
        search.wait()
    finished = len(list(study.glob("trials/*/outcome.json")))
    brought = halfwise(tmp_path, "sync", "tiny", "--tracking-uri", uri)
    assert brought.returncode == 0, brought.stderr
    assert f"Brought {finished} trials (0-{finished - 1}) and what the study came to." in brought.stdout
    assert runs_of(uri, tmp_path)["tiny"] == ("FAILED", 0)
    run = json.loads((study / "tracking.json").read_text())["run"]
    assert halfwise(tmp_path, "search", "tiny.yaml").returncode == 0
    found = runs_of(uri, tmp_path)
    assert len(found) == 8
    assert found["tiny"] == ("FINISHED", 0)
    assert {steps for name, (_, steps) in found.items() if name != "tiny"} == {20}
    assert json.loads((study / "tracking.json").read_text())["run"] == run
    assert "Nothing was missing" in halfwise(tmp_path, "sync", "tiny").stdout


def test_a_search_against_a_real_server(tmp_path: Path):
    """With --tracking-uri, parent, children and artifacts arrive at the server."""
    server = MlflowServer(tmp_path / "server")
    try:
        server.start()
        write_experiment(tmp_path, trials=5)
        assert halfwise(tmp_path, "search", "tiny.yaml", "--tracking-uri", server.url).returncode == 0
        found = runs_of(server.url, tmp_path)
        assert len(found) == 6
        assert found["tiny"] == ("FINISHED", 0)
        run = json.loads((tmp_path / "home" / "tiny" / "tracking.json").read_text())["run"]
        names = {artifact.path for artifact in MlflowClient(server.url).list_artifacts(run)}
        assert {"best-policy.yaml", "front.csv", "front.png", "front.json", "report.html"} <= names
    finally:
        server.kill()
