from pathlib import Path

import pytest
from calibrated_device import calibrated
from click.testing import CliRunner

from halfwise.evaluators.calibration.host import host_name
from halfwise.evaluators.price import load_devices
from halfwise.evaluators.price.device_file import save_devices
from halfwise.evaluators.price.devices import DeviceFigures
from halfwise.experiments.cli import halfwise
from halfwise.policies import InputError


def save(folder: Path, host: str) -> str:
    """A device file with the calibrated device on paper as `this-cpu`."""
    row = DeviceFigures(**calibrated(200, host).model_dump(exclude={"name", "bytes_only", "notes"}))
    save_devices({"this-cpu": row}, folder / "mine.yaml")
    return str(folder / "mine.yaml")


def invoke(*arguments: str) -> str:
    """What a command prints; its errors go on."""
    result = CliRunner().invoke(halfwise, arguments, standalone_mode=False, catch_exceptions=False)
    return result.output


def test_devices_shows_a_calibrated_row_with_its_sources(tmp_path: Path):
    """The step's own time and the number of timed kernels stand among the figures."""
    lines = invoke("devices", "--device-file", save(tmp_path, "a CPU on paper")).splitlines()
    assert "  a step beside its kernels: 200 us (made up for tests, 2026-01-01)" in lines
    assert "  times of 4 kernels, for a CPU on paper only (made up for tests, 2026-01-01)" in lines


def test_a_calibrated_row_prices_the_kernel_stage(tmp_path: Path):
    """The price says so, and what stands beside the kernels alone is 200 us."""
    file = save(tmp_path, host_name("CPU"))
    printed = invoke("price", "O3", "--workload", "tabular-mlp", "--price-for", "this-cpu", "--device-file", file)
    assert "O3 on tabular-mlp, priced on this-cpu (kernel stage), not measured" in printed
    milliseconds = float(
        printed.partition("step time: ")[2].partition(" ms, priced on this-cpu (kernel stage)")[0]
    )
    assert milliseconds > 0.2
    assert "boundary" not in printed


def test_a_row_calibrated_elsewhere_is_refused(tmp_path: Path):
    """The error names the host that it was calibrated on, and what to do."""
    file = save(tmp_path, "a CPU on paper")
    with pytest.raises(InputError, match=r"this-cpu was calibrated on a CPU on paper.*halfwise calibrate here"):
        invoke("price", "O3", "--workload", "tabular-mlp", "--price-for", "this-cpu", "--device-file", file)


@pytest.mark.full
def test_calibrate_writes_a_device_file(tmp_path: Path):
    """From the command to a row that `load_devices` reads; the output says where it is and how to use it."""
    file = tmp_path / "here.yaml"
    printed = invoke(
        "calibrate", "-o", str(file), "--name", "here", "--device", "CPU", "--seconds", "90", "--quiet"
    )
    assert f"--price-for here --device-file {file}" in printed
    device = load_devices(file)["here"]
    assert device.timings is not None
    assert device.timings.host == host_name("CPU")
    assert not device.launch.assumed
