"""The `halfwise` program as a person starts it."""

import os
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parent


def run_halfwise(*arguments: str, timeout_s: float, cwd: Path | str = SUPPORT) -> subprocess.CompletedProcess[str]:
    """The program with these arguments, by default where the tiny workloads lie; no home but what it is told."""
    command = [Path(sys.executable).with_name("halfwise"), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "HALFWISE_HOME"}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=timeout_s, check=False
    )
