"""`halfwise ui`: MLflow's own pages on the home's store, served to this machine only."""

import http.client
import ipaddress
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from ..policies.errors import HalfwiseError, InputError
from .home import HOME_VARIABLE, Home

_START_LIMIT_S = 90.0
_STOP_LIMIT_S = 10.0
_POLL_S = 0.2
# No reports to MLflow's makers, and no helper processes for jobs that halfwise has none of.
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "1",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}


@dataclass(frozen=True)
class Address:
    """Where the pages are served; port 0 stands for any free one."""

    host: str = "127.0.0.1"
    port: int = 5000

    @property
    def url(self) -> str:
        """What to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def ui_command(home: Home, address: Address) -> list[str]:
    """The command that serves the home's store; it may run in any working folder."""
    return [
        *(sys.executable, "-m", "mlflow", "server"),
        *("--backend-store-uri", home.tracking_uri),
        *("--default-artifact-root", home.artifact_root.as_uri()),
        *("--host", address.host),
        *("--port", str(address.port)),
        *("--workers", "1"),
    ]


def run_ui(home: Home, address: Address, announce: Callable[[str], None]) -> None:
    """Serve the home's store until Ctrl-C or SIGTERM; `announce` gets the URL once the pages answer.

    Raises:
        InputError: the home has no store, or the host is not this machine's own.
        HalfwiseError: the port is taken, or the server does not start or ends by itself.
    """
    if not home.store_file.is_file():
        raise InputError(
            f"{home.path} holds no MLflow store yet: run `halfwise search` first, or name another home with "
            f"--home or {HOME_VARIABLE}"
        )
    address = free_address(address)
    with tempfile.TemporaryFile() as output, _server(home, address, output) as server:
        try:
            _await_answer(server, address, output)
            announce(address.url)
            server.wait()
        except KeyboardInterrupt:
            return
        raise HalfwiseError(f"the MLflow server ended by itself: {_last_lines(output)}")


def free_address(address: Address) -> Address:
    """The address, with a free port in the place of port 0.

    Raises:
        InputError: the host is not this machine's own.
        HalfwiseError: the port is taken.
    """
    _refuse_other_hosts(address.host)
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the server will: a port that was closed a moment ago is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            raise HalfwiseError(
                f"cannot serve on port {address.port} of {address.host}: {error.strerror}; "
                f"choose another with --port, or --port 0 for any free one"
            ) from error
        return Address(address.host, probe.getsockname()[1])


def _refuse_other_hosts(host: str) -> None:
    """MLflow's server asks nobody for a password, so it must not be reachable from other machines."""
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    if not local:
        raise InputError(
            f"the pages are served to this machine only, on 127.0.0.1, ::1 or localhost, but got {host!r}; "
            f"from another machine, forward the port: ssh -L 5000:127.0.0.1:5000 USER@THIS-MACHINE"
        )


@contextmanager
def _server(home: Home, address: Address, output: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The server in a process group of its own, which is ended whole: it has workers."""
    server = subprocess.Popen(
        ui_command(home, address),
        cwd=home.path,
        env={**os.environ, **_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield server
    finally:
        _end(server)


def _end(server: subprocess.Popen[bytes]) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, sign)
        except ProcessLookupError:
            break
        try:
            server.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            continue
    server.wait()


def _await_answer(server: subprocess.Popen[bytes], address: Address, output: IO[bytes]) -> None:
    limit = time.monotonic() + _START_LIMIT_S
    while not answers(address):
        if server.poll() is not None:
            raise HalfwiseError(f"the MLflow server did not start: {_last_lines(output)}")
        if time.monotonic() > limit:
            raise HalfwiseError(
                f"the MLflow server did not answer within {_START_LIMIT_S:g} s: {_last_lines(output)}"
            )
        time.sleep(_POLL_S)


def answers(address: Address) -> bool:
    """Whether an MLflow server is there and well; one that does not answer is given 5 s."""
    # http.client asks no proxy, which could not reach this machine's own address.
    connection = http.client.HTTPConnection(address.host, address.port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _last_lines(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").split("\n")
    return "\n".join(["", *[line for line in lines if line.strip()][-5:]])
