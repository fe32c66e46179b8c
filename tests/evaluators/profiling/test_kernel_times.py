"""The profiler's files, as MindSpore 2.10 writes them for each device; those of GPU and Ascend are contracts."""

from pathlib import Path

import pytest

from halfwise.evaluators.profiling.kernel_times import kernel_times_s
from halfwise.policies.errors import HalfwiseError

CPU = """op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),op_avg_time(ms),total_proportion
Host,MatMul,MatMul-op0,Default/a/MatMul-op0,5,1.5,0.3,0.75
Host,Add,Add-op1,Default/Add-op1,5,0.5,0.1,0.25
"""
# Its total time is the host's; the device's own is that of CUDA's activities.
GPU = """op_side,op_type,op_full_name,op_occurrences,op_total_time(us),op_avg_time(us),cuda_activity_cost_time(us)
Device,MatMul,Default/a/MatMul-op0,5,40,8,1500
Device,Add,Default/Add-op1,5,30,6,500
"""
ASCEND = """Step ID,Device_id,Name,Type,Duration(us)
1,0,Default/a/MatMul-op0,MatMul,700
2,0,Default/a/MatMul-op0,MatMul,800
1,0,Default/Add-op1,Add,500
"""
FILES = {
    "CPU": ("run/FRAMEWORK/cpu_op_detail_info_0.csv", CPU),
    "GPU": ("run/FRAMEWORK/gpu_op_detail_info_0.csv", GPU),
    "Ascend": ("run/ASCEND_PROFILER_OUTPUT/kernel_details.csv", ASCEND),
}


def write(folder: Path, name: str, text: str) -> None:
    """A file in a folder of its own."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("target", FILES)
def test_seconds_of_each_kernel_are_read(tmp_path: Path, target):
    """Whatever unit and column a device's file has: all executions of a kernel together, in seconds."""
    write(tmp_path, *FILES[target])
    assert kernel_times_s(tmp_path, target) == pytest.approx(
        {"Default/a/MatMul-op0": 1.5e-3, "Default/Add-op1": 0.5e-3}
    )


def test_several_files_add_up(tmp_path: Path):
    """A profile in two folders counts both."""
    for run in ("one", "two"):
        write(tmp_path, f"{run}/cpu_op_detail_info_0.csv", CPU)
    assert kernel_times_s(tmp_path, "CPU")["Default/Add-op1"] == pytest.approx(1e-3)


def test_a_profiler_that_wrote_nothing_is_said(tmp_path: Path):
    """The message names the file that is missing, and where."""
    with pytest.raises(HalfwiseError, match=r"left no cpu_op_detail_info_\*\.csv in "):
        kernel_times_s(tmp_path, "CPU")


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", CPU.replace("1.5", "long"), CPU.replace("(ms)", "(ns)")])
def test_another_file_is_refused(tmp_path: Path, text: str):
    """What is not as MindSpore 2.10 writes it is named, never counted in another unit."""
    write(tmp_path, FILES["CPU"][0], text)
    with pytest.raises(
        HalfwiseError, match=r"cannot read .*cpu_op_detail_info_0\.csv as MindSpore 2\.10's profiler"
    ):
        kernel_times_s(tmp_path, "CPU")
