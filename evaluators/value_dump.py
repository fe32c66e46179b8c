"""MindSpore's own dump: the values of every op of one step."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class DumpedOp:
    """One op's output on disk, and the op's full name with "/" written as "_"."""

    name: str
    file: Path

    def finite(self) -> bool:
        """Whether every element is finite; integers and booleans always are."""
        values = np.load(self.file)
        return values.dtype.kind != "f" or bool(np.isfinite(values).all())


def dump_everything(folder: Path) -> None:
    """Make this process write every op's values into `folder`; call it before any op."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "common_dump_settings": {
            "op_debug_mode": 0,
            "dump_mode": 0,
            "path": str(folder),
            "net_name": "step",
            "iteration": "0",
            "saved_data": "tensor",
            "input_output": 2,
            "kernels": [],
            "support_device": list(range(8)),
        },
        "e2e_dump_settings": {"enable": True, "trans_flag": True, "stat_calc_mode": "host"},
    }
    file = folder / "dump.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    os.environ.update(
        MINDSPORE_DUMP_CONFIG=str(file),
        MS_DIAGNOSTIC_DATA_PATH=str(folder),
    )


def dumped_ops(folder: Path) -> list[DumpedOp]:
    """What was dumped, in the order in which the ops finished.

    File names read `Op.name.task.stream.microseconds.output.index.format.dtype.npy`.
    """
    found = []
    for file in folder.rglob("*.output.*.npy"):
        _, name, _, _, stamp = file.name.split(".")[:5]
        found.append((int(stamp), DumpedOp(name, file)))
    return [op for _, op in sorted(found, key=lambda pair: pair[0])]
