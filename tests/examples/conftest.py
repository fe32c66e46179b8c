"""What the tests of the examples share."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the examples, on Python's path as when a script in it runs."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return EXAMPLES


@pytest.fixture
def run_program(tmp_path: Path) -> Callable[..., str]:
    """`run_program("halfwise", "front", ...)` or `run_program(script, ...)`: what it prints, run elsewhere."""

    def run(program: str | Path, *arguments: str | Path) -> str:
        command = [sys.executable, program]
        if program == "halfwise":
            command = [Path(sys.executable).with_name("halfwise")]
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    return run
