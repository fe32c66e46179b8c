import time
from pathlib import Path

import pytest

from halfwise.evaluators.calibration.calibrate import Calibrator
from halfwise.evaluators.calibration.host import host_name
from halfwise.evaluators.calibration.request import (
    CATALOGUE_JOB,
    TIMING_JOB,
    WORKLOAD_JOB,
    CatalogueRequest,
    FoundKernels,
    TimedKernels,
    TimingRequest,
    WorkloadKernelsRequest,
)
from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.process import Failure, Limits, run_job

SUPPORT = Path(__file__).parents[2] / "support"
LIMITS = Limits(time_s=120, memory_bytes=4 << 30)
SMALL = "Mul float32[64] float32[64] -> float32[64]"
LARGE = "Mul float32[64,4096] float32[64,4096] -> float32[64,4096]"


def test_the_device_says_which_kernels_are_its_own(tmp_path: Path):
    """A CPU multiplies float16 itself, but a float16 product of matrices runs a float32 kernel: it is left out."""
    low = "MatMul float16[8,4] float16[4,6] -> float16[8,6]"
    full = low.replace("float16", "float32")
    halves = "Cast float32[8] -> float16[8], half zeros"
    mul = "Mul float16[8] float16[8] -> float16[8]"
    adam = "Adam " + " ".join(["float32[8]"] * 3 + ["float32[]"] * 6 + ["float32[8]"]) + " -> float32[8]"
    request = CatalogueRequest(folder=tmp_path / "job", target="CPU", kernels=(low, full, halves, mul, adam))
    found = run_job(CATALOGUE_JOB, request, FoundKernels, LIMITS)
    assert isinstance(found, FoundKernels), found
    assert set(found.works) == {full, halves, mul, adam}
    assert found.works[full] == 2 * 8 * 4 * 6
    assert found.works[halves] == 8 * 6


def test_a_larger_kernel_takes_longer_and_what_fails_is_told(tmp_path: Path):
    """4,096 times the elements take at least five times as long; an op without a recipe has its reason."""
    unknown = "OneHot other[8] float32[] -> float32[8,4]"
    request = TimingRequest(folder=tmp_path / "job", target="CPU", kernels=(SMALL, LARGE, unknown), budget_s=60)
    found = run_job(TIMING_JOB, request, TimedKernels, LIMITS)
    assert isinstance(found, TimedKernels), found
    assert found.left_out[unknown] == "OneHot: no recipe for an op on integers"
    assert found.seconds[LARGE] > 5 * found.seconds.get(SMALL, 0)
    assert 0 < found.step_s < 1


def test_what_there_is_no_time_for_is_left_out(tmp_path: Path):
    """With next to no budget every kernel is left out with its reason, and nothing fails."""
    request = TimingRequest(folder=tmp_path / "job", target="CPU", kernels=(SMALL, LARGE), budget_s=1e-6)
    found = run_job(TIMING_JOB, request, TimedKernels, LIMITS)
    assert isinstance(found, TimedKernels), found
    assert found.seconds == {}
    assert found.left_out == dict.fromkeys((SMALL, LARGE), "no time was left for it")


def test_of_two_times_the_lesser_counts():
    """A kernel that either pass timed has a time; what no pass reached keeps its reason."""
    first = TimedKernels(
        seconds={"a": 3.0, "b": 1.0}, left_out={"c": "x", "d": "y"}, step_s=2, mindspore_version="2"
    )
    second = TimedKernels(seconds={"a": 2.0, "c": 5.0}, left_out={"b": "z"}, step_s=1, mindspore_version="2")
    both = first.joined(second)
    assert both.seconds == {"a": 2.0, "b": 1.0, "c": 5.0}
    assert both.left_out == {"d": "y"}
    assert both.step_s == 1


def test_a_workloads_kernels_are_those_of_its_step(tmp_path: Path):
    """Under O3 the casts that the back end puts around its float32 products are there; views are not."""
    request = WorkloadKernelsRequest(
        folder=tmp_path / "job",
        target="CPU",
        workload="tiny_workloads:make_tiny",
        search_path=SUPPORT,
        policy="O3",
    )
    found = run_job(WORKLOAD_JOB, request, FoundKernels, LIMITS)
    assert isinstance(found, FoundKernels), found
    ops = {text.partition(" ")[0] for text in found.works}
    assert {"MatMul", "Cast"} <= ops
    assert "Reshape" not in ops
    assert not any(text.startswith("MatMul float16") for text in found.works)


def test_a_workload_that_is_wrong_ends_the_calibration(tmp_path: Path):
    """The job's own words come back."""
    request = WorkloadKernelsRequest(
        folder=tmp_path / "job", target="CPU", workload="tiny_workloads:nothing", search_path=SUPPORT, policy="O0"
    )
    found = run_job(WORKLOAD_JOB, request, FoundKernels, LIMITS)
    assert isinstance(found, Failure)
    assert "nothing" in found.message
    assert found.input_error


@pytest.mark.full
def test_a_calibration_makes_a_row_that_prices_the_workload(tmp_path: Path):
    """From probe to row: the workload's own products are timed, and nothing in the row is assumed."""
    device = DeviceFacts("CPU", ("float16",), {}, reference_convolution=False)
    said: list[str] = []
    made = Calibrator(device, tmp_path).calibrate(
        ("tiny_workloads:make_tiny",), SUPPORT, time.monotonic() + 90, said.append
    )
    row = made.row
    assert row.timings is not None
    assert row.timings.host == host_name("CPU")
    assert any(text.startswith("MatMul") for text in row.timings.kernels)
    assert row.matrix["float32"].value > 0
    assert "float16" not in row.matrix
    assert not row.launch.assumed
    assert any("tiny_workloads:make_tiny" in line for line in said)
