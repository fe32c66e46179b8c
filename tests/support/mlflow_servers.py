"""A real MLflow server on this machine, and a relay before it that can refuse, fall silent, or lose answers."""

import http.client
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

from halfwise.experiments.home import Home
from halfwise.experiments.ui import Address, answers, free_address, ui_command

Manner = Literal["passes", "refuses", "is silent"]
_START_LIMIT_S = 120.0


class MlflowServer:
    """A server with a store of its own in a folder; it can be ended and started again at the same place."""

    def __init__(self, folder: Path) -> None:
        self._home = Home(folder)
        self._home.prepare()
        self._address = free_address(Address(port=0))
        self.url = self._address.url
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait for its first answer."""
        environment = {
            **os.environ,
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        }
        self._process = subprocess.Popen(
            ui_command(self._home, self._address),
            env=environment,
            cwd=self._home.path,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline_s = time.monotonic() + _START_LIMIT_S
        while not answers(self._address):
            assert self._process.poll() is None, "the MLflow server ended by itself"
            assert time.monotonic() < deadline_s, "the MLflow server did not start"
            time.sleep(0.2)

    def kill(self) -> None:
        """End it at once, with its workers."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


class Relay:
    """Passes requests on to a server, in the `manner` that it is set to.

    The answers to the first `losing[word]` requests whose path holds the word are lost: the server has done what
    was asked.
    """

    def __init__(self, url: str) -> None:
        self.manner: Manner = "passes"
        self.losing: dict[str, int] = {}
        self.asked = threading.Event()
        self._target = url.removeprefix("http://")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._released = threading.Event()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """End it; whoever was kept waiting is let go."""
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        relay = self

        class Handler(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                self.close_connection = True
                if relay.manner == "refuses":
                    return
                if relay.manner == "is silent":
                    relay.asked.set()
                    relay._released.wait()
                    return
                super().handle_one_request()

            def relayed(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                connection = http.client.HTTPConnection(relay._target, timeout=60)
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                self.close_connection = True
                if not relay._loses(self.path):
                    self.send_response(answer.status)
                    self.send_header("Content-Type", answer.getheader("Content-Type") or "application/json")
                    self.send_header("Content-Length", str(len(content)))
                    self.send_header("Connection", "close")
                    self.end_headers()
                    self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = relayed

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler

    def _loses(self, path: str) -> bool:
        for word, times in self.losing.items():
            if word in path and times > 0:
                self.losing[word] = times - 1
                return True
        return False


@contextmanager
def relay_to(url: str) -> Iterator[Relay]:
    """A relay for the time of one test; without a server behind it where it passes nothing on."""
    relay = Relay(url)
    try:
        yield relay
    finally:
        relay.close()
