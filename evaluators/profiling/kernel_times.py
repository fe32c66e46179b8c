"""Reads from what MindSpore's profiler wrote how long each kernel took."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from ...policies.errors import HalfwiseError
from ..device_names import Target


@dataclass(frozen=True)
class _Report:
    """A file of the profiler: which one, and the columns with a kernel's full name and its time in `unit_s`."""

    pattern: str
    name: str
    time: str
    unit_s: float


# Column names as MindSpore 2.10 writes them: its profiler library for CPU and GPU, and its
# ascend_kernel_details_viewer. Seen on a CPU only. A GPU's own figure is the host's time of the launch.
_REPORTS: Mapping[Target, _Report] = MappingProxyType(
    {
        "CPU": _Report("**/cpu_op_detail_info_*.csv", "full_op_name", "op_total_time(ms)", 1e-3),
        "GPU": _Report("**/gpu_op_detail_info_*.csv", "op_full_name", "cuda_activity_cost_time(us)", 1e-6),
        "Ascend": _Report("**/kernel_details.csv", "Name", "Duration(us)", 1e-6),
    }
)


def kernel_times_s(folder: Path, target: Target) -> dict[str, float]:
    """Seconds by the kernel's full name, all of its executions together.

    Raises:
        HalfwiseError: the profiler wrote no such file, or another one than MindSpore 2.10 writes.
    """
    report = _REPORTS[target]
    files = sorted(folder.glob(report.pattern))
    if not files:
        raise HalfwiseError(f"MindSpore's profiler left no {report.pattern.rpartition('/')[2]} in {folder}")
    table = pd.concat([_read(file, report) for file in files])
    return (table.groupby("name")["time"].sum() * report.unit_s).to_dict()


def _read(file: Path, report: _Report) -> pd.DataFrame:
    try:
        table = pd.read_csv(file)[[report.name, report.time]].set_axis(["name", "time"], axis=1)
        return table.astype({"name": str, "time": float})
    except (KeyError, ValueError, OSError) as error:
        raise HalfwiseError(f"cannot read {file} as MindSpore 2.10's profiler writes it: {error}") from error
