"""Two processes under `msrun` on a CPU: one table, one set of weights, and the losses of one process on it all."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import parallel_training
import pytest
from fresh_process import in_fresh_process

MIXED = "{default: float16, layers: {norm: float32}}"


def by_two_processes(policy: str, folder: Path) -> list[dict[str, Any]]:
    """What each of two processes found."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    programs = Path(sys.executable).parent
    command = [
        *(str(programs / "msrun"), "--worker_num=2", "--local_worker_num=2", "--join=True"),
        *(f"--master_port={port}", f"--log_dir={folder / 'logs'}"),
        *(parallel_training.__file__, policy, str(folder)),
    ]
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    logs = "\n".join(log.read_text(errors="replace")[-3000:] for log in folder.glob("logs/worker_*.log"))
    assert done.returncode == 0, logs
    return [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in range(2)]


@pytest.mark.full
@pytest.mark.parametrize(("policy", "rounding"), [("O0", 1e-5), (MIXED, 2e-3)])
def test_two_processes_train_as_one(policy: str, rounding: float, tmp_path: Path):
    """Equal tables, losses and weights in both; gradients averaged in float32; one process's losses."""
    first, second = by_two_processes(policy, tmp_path)
    assert (first["rank"], second["rank"]) == (0, 1)
    for what in ("hash", "losses", "weights", "forward"):
        assert first[what] == second[what]
    assert first["mismatches"] == []
    assert first["reduced_in"] == ["float32"]
    alone = in_fresh_process("parallel_training:alone", policy=policy)
    assert alone["forward"] == first["forward"]
    assert alone["reduced_in"] == []
    assert first["losses"] == pytest.approx(alone["losses"], rel=rounding)
    assert first["losses"][-1] < first["losses"][0]
