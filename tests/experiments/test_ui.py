import http.client
import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from finished_study import study_info
from mlflow import MlflowClient

from halfwise.evaluators.json_file import write_json
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.study_file import StudyFile
from halfwise.experiments.sync import sync_study
from halfwise.experiments.tracking_mlflow import MlflowCopy
from halfwise.experiments.ui import Address, free_address, run_ui, ui_command
from halfwise.policies.errors import HalfwiseError, InputError

SERVE = """
import sys
from halfwise.experiments.home import Home
from halfwise.experiments.interrupts import stopped_by_signals
from halfwise.experiments.ui import Address, run_ui
with stopped_by_signals():
    run_ui(Home.find(sys.argv[1]), Address(port=0), lambda url: print(url, flush=True))
"""


def test_command_names_the_homes_store_absolutely(tmp_path: Path):
    """The server gets the store, the artifacts and the address, whatever the working folder is."""
    command = ui_command(Home(tmp_path), Address(port=5123))
    assert command[:4] == [sys.executable, "-m", "mlflow", "server"]
    options = dict(zip(command[4::2], command[5::2], strict=True))
    assert options == {
        "--backend-store-uri": f"sqlite:///{tmp_path}/mlflow.db",
        "--default-artifact-root": (tmp_path / "artifacts").as_uri(),
        "--host": "127.0.0.1",
        "--port": "5123",
        "--workers": "1",
    }


def test_home_without_a_store_says_what_to_do(tmp_path: Path):
    """There is nothing to look at before the first search; the message says where it looked."""
    with pytest.raises(InputError, match=rf"{tmp_path} holds no MLflow store yet: run `halfwise search`"):
        run_ui(Home(tmp_path), Address(), print)


def test_taken_port_is_said(tmp_path: Path):
    """A port in use is named, with the option that chooses another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HalfwiseError, match=rf"cannot serve on port {port} of 127.0.0.1: .*--port"):
            free_address(Address(port=port))


def test_port_zero_becomes_a_free_one():
    """Any free port may be asked for, and the URL names it."""
    address = free_address(Address(port=0))
    assert address.port > 0
    assert address.url == f"http://127.0.0.1:{address.port}"
    assert Address("::1", 5000).url == "http://[::1]:5000"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_other_machines_are_refused(host: str):
    """MLflow's server has no passwords, so it is never offered to other machines."""
    with pytest.raises(InputError, match="to this machine only"):
        free_address(Address(host))


def _get(url: str, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def _is_free(url: str) -> bool:
    try:
        _get(url, "/health")
    except ConnectionRefusedError:
        return True
    return False


def _tracked_through(url: str, folder: StudyFolder) -> str:
    """The status of a study that was broken off, and was then brought to the server."""
    folder.create()
    write_json(StudyFile(info=study_info(folder)), folder.study_file)
    copy = MlflowCopy(url, Path("/not-used"))
    sync_study(folder, copy)
    assert copy.run is not None
    return MlflowClient(url).get_run(copy.run).info.status


@pytest.mark.full
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_runs_and_artifacts_are_there_from_another_folder(tmp_path: Path, sign: signal.Signals):
    """Case 40: from any folder the server shows the home's runs and artifacts; a signal ends it whole."""
    home = Home(tmp_path / "home ü#")
    home.prepare()
    client = MlflowClient(home.tracking_uri)
    experiment = client.create_experiment("digits", home.artifact_root.as_uri())
    run_id = client.create_run(experiment, run_name="digits-001").info.run_id
    client.log_text(run_id, "default: float16", "best-policy.yaml")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, str(home.path)], cwd=elsewhere, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        status, body = _get(url, f"/get-artifact?run_uuid={run_id}&path=best-policy.yaml")
        assert (status, body) == (200, b"default: float16")
        status, body = _get(url, f"/api/2.0/mlflow/runs/get?run_id={run_id}")
        assert status == 200
        assert b"digits-001" in body
        assert _tracked_through(url, home.study_folder("served")) == "FAILED"
        os.kill(process.pid, sign)
        assert process.wait(30) == 0
    time.sleep(0.2)
    assert _is_free(url)
    assert list(elsewhere.iterdir()) == []


def _own_address() -> str | None:
    """An address of this machine that others reach it by, if it has one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


@pytest.mark.full
def test_pages_are_served_to_this_machine_only(tmp_path: Path):
    """No process of the server listens beyond loopback, and a page that claims another host's name is refused."""
    home = Home(tmp_path)
    home.prepare()
    MlflowClient(home.tracking_uri).create_experiment("digits", home.artifact_root.as_uri())
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, str(home.path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        host, port = url.removeprefix("http://").split(":")
        family = psutil.Process(process.pid).children(recursive=True)
        sockets = [each for member in family for each in member.net_connections("inet")]
        listening = {each.laddr for each in sockets if each.status == psutil.CONN_LISTEN}
        assert (host, int(port)) in listening
        assert all(ipaddress.ip_address(address.ip).is_loopback for address in listening)
        if (own := _own_address()) is not None:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((own, int(port)), timeout=5)
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        connection.request(
            "GET", "/api/2.0/mlflow/experiments/get?experiment_id=0", headers={"Host": "evil.example"}
        )
        assert connection.getresponse().status == http.client.FORBIDDEN
        connection.close()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.full
def test_server_that_does_not_start_says_why(tmp_path: Path):
    """A store that MLflow cannot read ends with the server's own last words."""
    home = Home(tmp_path)
    home.store_file.write_text("this is no database, " * 100)
    with pytest.raises(HalfwiseError, match="the MLflow server did not start"):
        run_ui(home, Address(port=0), print)
