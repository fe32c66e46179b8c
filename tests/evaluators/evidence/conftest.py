"""What these tests share: op tables of small networks, compiled once in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from halfwise.evaluators.evidence import read_op_table
from halfwise.policies import (
    Assignment,
    CellOutline,
    NetworkOutline,
    Policy,
    parse_policy,
    resolve,
)

PROGRAM = Path(__file__).parent / "compile_steps.py"


@dataclass(frozen=True)
class Compiled:
    """A step's dump, its table, and what was asked of it."""

    folder: Path
    outline: NetworkOutline
    policy: Policy
    assignments: tuple[Assignment, ...]
    table: pd.DataFrame


@pytest.fixture(scope="session")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dumps of every step of compile_steps.py."""
    folder = tmp_path_factory.mktemp("dumps")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.fixture(scope="session")
def compiled(dumps: Path) -> Callable[[str], Compiled]:
    """`compiled("blocks")`: a step by its name."""

    @cache
    def read(name: str) -> Compiled:
        folder = dumps / name
        cells = json.loads((folder / "outline.json").read_text(encoding="utf-8"))
        outline = NetworkOutline(tuple(CellOutline(path, tuple(a), tuple(t)) for path, a, t in cells))
        policy = parse_policy((folder / "policy.json").read_text(encoding="utf-8"))
        return Compiled(folder, outline, policy, resolve(policy, outline), read_op_table(folder, outline))

    return read
