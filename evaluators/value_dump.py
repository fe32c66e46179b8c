"""MindSpore's own dump: the values of every op of chosen steps."""

import json
import math
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

# What MindSpore calls its folder for the first device's values, below the one that it is given.
_VALUES = "rank_0"


@dataclass(frozen=True)
class DumpedOp:
    """One tensor of an op on disk, and the op's full name with "/" written as "_".

    `side` says whether it went in or came out, `index` which of those it is.
    """

    name: str
    file: Path
    side: Literal["input", "output"] = "output"
    index: int = 0

    def finite(self) -> bool:
        """Whether every element is finite; integers and booleans always are."""
        values = read_dumped(self.file)
        return values.dtype.kind != "f" or bool(np.isfinite(values).all())


def read_dumped(file: Path) -> np.ndarray:
    """The values of one tensor.

    The header of a dumped file names the type that the graph had before the back end chose its kernels: behind
    float16 may stand the float32 of a wider kernel. How many bytes follow tells which.
    """
    with file.open("rb") as stream:
        np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        content = stream.read()
    width = len(content) // max(math.prod(shape), 1)
    if dtype.kind == "f" and width in (2, 4):
        dtype = np.dtype(f"f{width}")
    return np.frombuffer(content, dtype, count=math.prod(shape)).reshape(shape)


def dump_everything(folder: Path, steps: Collection[int] = (0,), inputs: bool = False) -> None:
    """Make this process write every op's values of some steps into `folder`; call it before any op.

    Steps are counted from 0 in the order in which the process runs its compiled graph. With `inputs`, what goes
    into each op is written beside what comes out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "common_dump_settings": {
            "op_debug_mode": 0,
            "dump_mode": 0,
            "path": str(folder),
            "net_name": "step",
            "iteration": "|".join(str(step) for step in sorted(steps)),
            "saved_data": "tensor",
            "input_output": 0 if inputs else 2,
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
    """What the ops of the dumped steps gave, in the order in which they finished."""
    return [tensor for tensor in dumped_tensors(folder) if tensor.side == "output"]


def dumped_tensors(folder: Path) -> list[DumpedOp]:
    """What went into the ops of the dumped steps, if that was asked for, and what came out, in the order of time.

    File names read `Op.name.task.stream.microseconds.side.index.format.dtype.npy`.
    """
    found = []
    for file in (folder / _VALUES).rglob("*.npy"):
        _, name, _, _, stamp, side, index = file.name.split(".")[:7]
        found.append((int(stamp), DumpedOp(name, file, "input" if side == "input" else "output", int(index))))
    return [op for _, op in sorted(found, key=lambda pair: pair[0])]


def forget_dumped(folder: Path) -> None:
    """Delete the values written so far; later steps are written all the same."""
    shutil.rmtree(folder / _VALUES, ignore_errors=True)
