import datetime

import pytest
from calibrated_device import calibrated

from halfwise.evaluators.calibration.device_row import device_row
from halfwise.evaluators.calibration.host import host_name, refuse_other_host
from halfwise.evaluators.calibration.request import TimedKernels
from halfwise.policies import InputError
from halfwise.policies.errors import HalfwiseError

TODAY = datetime.date(2026, 1, 2)
SECONDS = {
    "Mul float32[64] float32[64] -> float32[64]": 2e-6,
    "Mul float32[1000] float32[1000] -> float32[1000]": 12e-6,
    "Mul float16[1000] float16[1000] -> float16[1000]": 50e-6,
    "MatMul float32[10,10] float32[10,10] -> float32[10,10]": 4e-6,
    "MatMul float32[100,100] float32[100,100] -> float32[100,100]": 20e-6,
}
WORKS = dict(zip(SECONDS, (768.0, 12_000.0, 6_000.0, 2e3, 2e6), strict=True))


def row(seconds: dict[str, float]):
    """The row of some timed kernels."""
    timed = TimedKernels(seconds=seconds, left_out={}, step_s=2e-4, mindspore_version="2.10.0")
    return device_row(timed, WORKS, "Some CPU", "CPU", TODAY)


def test_rates_launch_and_bandwidth_are_what_the_kernels_showed():
    """By hand: 2e6 FLOPs in 20 us, a thousand products in 12 and 50 us, 12,000 bytes in 12 us, a launch of 2."""
    found = row(SECONDS)
    assert found.matrix["float32"].si == pytest.approx(1e11)
    assert "float16" not in found.matrix
    assert found.vector["float32"].si == pytest.approx(1000 / 12e-6, rel=1e-3)
    assert found.vector["float16"].si == pytest.approx(1000 / 50e-6)
    assert found.bandwidth is not None
    assert found.bandwidth.si == pytest.approx(1e9)
    assert found.launch.si == pytest.approx(2e-6)
    assert found.step is not None
    assert found.step.si == pytest.approx(200e-6)


def test_every_figure_says_who_timed_it_and_nothing_is_assumed():
    """Source and date stand at each figure."""
    found = row(SECONDS)
    assert found.timings is not None
    sources = {found.launch.source, found.matrix["float32"].source, found.timings.source}
    assert sources == {"calibrated on Some CPU by halfwise calibrate, MindSpore 2.10.0"}
    assert found.launch.date == TODAY
    assert not found.launch.assumed
    assert not found.reachable.assumed
    assert len(found.timings.kernels) == len(SECONDS)


def test_a_calibration_without_the_essentials_is_refused():
    """Without a float32 product or sum of elements there is no launch and no bandwidth."""
    with pytest.raises(HalfwiseError, match=r"neither launch nor bandwidth.*--seconds"):
        row({text: seconds for text, seconds in SECONDS.items() if text.startswith("MatMul")})


def test_a_row_of_another_host_is_refused():
    """The error names both hosts; the row of this one, and one that is not calibrated, pass."""
    with pytest.raises(InputError, match=r"paper was calibrated on a CPU on paper.*halfwise calibrate here"):
        refuse_other_host(calibrated(), "CPU")
    refuse_other_host(calibrated(host=host_name("CPU")), "CPU")
    refuse_other_host(calibrated().model_copy(update={"timings": None}), "CPU")
