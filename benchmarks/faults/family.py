"""All processes that come of what was started here, whoever their parents are by now."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import psutil

from halfwise.experiments.home import HOME_VARIABLE
from halfwise.policies.errors import HalfwiseError

Role = Literal["search", "worker", "trial"]

_MARK = "HALFWISE_BENCH_FAMILY"
_PROGRAM = Path(sys.executable).with_name("halfwise")
_POLL_S = 0.1


@dataclass(frozen=True)
class Family:
    """Tells its processes by a mark in their environment, which they hand down and cannot lose."""

    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def start(
        self, arguments: Sequence[str], folder: Path, log: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """The `halfwise` program in a folder, with its output at the end of a log; no home but what it is told."""
        inherited = {name: value for name, value in os.environ.items() if name != HOME_VARIABLE}
        with log.open("ab") as output:
            return subprocess.Popen(
                [_PROGRAM, *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**inherited, **(environment or {}), _MARK: self.mark},
            )

    def members(self) -> list[psutil.Process]:
        """Those that run; a killed one that nobody has waited for is none."""
        found: list[psutil.Process] = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(_MARK) == self.mark:
                    found.append(process)
        return found

    def by_role(self) -> dict[Role, list[psutil.Process]]:
        """The members as searches, workers, and what these have started to run trials."""
        found: dict[Role, list[psutil.Process]] = {"search": [], "worker": [], "trial": []}
        for process in self.members():
            with suppress(psutil.Error):
                found[_role_of(process.cmdline())].append(process)
        return found

    def left(self, patience_s: float) -> tuple[str, ...]:
        """The command lines of those that are still there after a while."""
        deadline = time.monotonic() + patience_s
        while (members := self.members()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return tuple(_words(process) for process in members)

    def end(self) -> None:
        """Kill whoever is there, and who came meanwhile.

        Raises:
            HalfwiseError: some cannot be killed.
        """
        for _ in range(100):
            members = self.members()
            if not members:
                return
            for process in members:
                with suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(members, timeout=_POLL_S)
        raise HalfwiseError(f"processes cannot be killed: {', '.join(self.left(0))}")


def _role_of(command: Sequence[str]) -> Role:
    """By the name of the command that a person would type; a forkserver's command line names none."""
    if "worker" in command:
        return "worker"
    return "search" if "search" in command else "trial"


def _words(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:200]}"
    except psutil.Error:
        return f"{process.pid}, just over"
