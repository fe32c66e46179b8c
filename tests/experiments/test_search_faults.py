"""A search that is interrupted, or whose MLflow server is not there, and one against a real server."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mlflow import MlflowClient

from halfwise.experiments.home import Home
from halfwise.experiments.ui import Address, free_address, ui_command
from halfwise.policies import load_policy

SUPPORT = Path(__file__).parents[1] / "support"
PROGRAM = Path(sys.executable).with_name("halfwise")


def write_experiment(folder: Path, trials: int) -> Path:
    """An experiment on the tiny workload."""
    (folder / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    file = folder / "tiny.yaml"
    file.write_text(
        "schema: halfwise/experiment/1\nworkload: tiny_workloads:make_tiny\n"
        f"trials: {trials}\nsteps: 20\nsampler: random\nconfirm: none\n",
        encoding="utf-8",
    )
    return file


@pytest.mark.full
def test_an_interrupted_search_keeps_what_it_found(tmp_path):
    """After SIGINT the finished trials, the front and the best policy are there; the same command goes on."""
    file = write_experiment(tmp_path, trials=7)
    command = [PROGRAM, "search", str(file), "--home", str(tmp_path / "home"), "--no-mlflow"]
    study = tmp_path / "home" / "tiny"
    search = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 120
    while len(list(study.glob("trials/*/outcome.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    search.send_signal(signal.SIGINT)
    _, stderr = search.communicate(timeout=60)
    assert search.returncode == 1
    assert "stopped by Ctrl-C" in stderr
    found = {file: file.read_bytes() for file in study.glob("trials/*/outcome.json")}
    assert len(found) >= 2
    assert load_policy(study / "best-policy.yaml").results["study"] == "tiny"
    assert subprocess.run(command, capture_output=True, cwd=tmp_path, check=True).returncode == 0
    assert {file: file.read_bytes() for file in found} == found
    assert (study / "front.csv").read_text().count("\n") >= 8


@pytest.mark.full
def test_a_search_goes_on_without_its_mlflow_server(tmp_path):
    """When nothing answers at the tracking URI, one line says so and the study is complete on disk."""
    file = write_experiment(tmp_path, trials=5)
    uri = "http://127.0.0.1:9"
    result = subprocess.run(
        [PROGRAM, "search", str(file), "--home", str(tmp_path / "home"), "--tracking-uri", uri],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert uri in result.stdout
    assert "The search goes on without it" in result.stdout
    assert len(list((tmp_path / "home" / "tiny" / "trials").glob("*/outcome.json"))) == 5


@pytest.mark.full
def test_a_search_against_a_real_server(tmp_path):
    """With --tracking-uri, parent, children and artifacts arrive at the server."""
    home = Home(tmp_path / "server")
    home.prepare()
    address = free_address(Address(port=0))
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    server = subprocess.Popen(
        ui_command(home, address),
        env=environment,
        cwd=tmp_path,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        uri = f"http://{address.host}:{address.port}"
        file = write_experiment(tmp_path, trials=5)
        wait_for(uri)
        command = [PROGRAM, "search", str(file), "--home", str(tmp_path / "home"), "--tracking-uri", uri]
        subprocess.run(command, capture_output=True, cwd=tmp_path, check=True)
        study = json.loads((tmp_path / "home" / "tiny" / "study.json").read_text())
        client = MlflowClient(uri)
        parent = client.get_run(study["tracking_run"])
        children = client.search_runs(
            [parent.info.experiment_id], f"tags.`mlflow.parentRunId` = '{parent.info.run_id}'"
        )
        assert parent.info.status == "FINISHED"
        assert len(children) == 5
        assert "best-policy.yaml" in {artifact.path for artifact in client.list_artifacts(parent.info.run_id)}
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def wait_for(uri: str) -> None:
    """Until the server answers, a minute at most."""
    from urllib.error import URLError
    from urllib.request import urlopen

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urlopen(f"{uri}/health", timeout=2)
            return
        except (URLError, OSError):
            time.sleep(0.3)
    raise AssertionError(f"no MLflow server at {uri} after a minute")
