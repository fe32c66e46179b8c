from pathlib import Path

import pytest
from calibrated_device import calibrated

from halfwise.evaluators.price import load_devices
from halfwise.evaluators.price.device_file import save_devices
from halfwise.evaluators.price.devices import DeviceFigures
from halfwise.policies import InputError
from halfwise.policies.errors import HalfwiseError


def figures() -> DeviceFigures:
    """The calibrated row, without its name."""
    return DeviceFigures(**calibrated(200).model_dump(exclude={"name", "bytes_only", "notes"}))


def test_a_saved_row_reads_back_as_it_was(tmp_path: Path):
    """Every figure with unit, source and date, and every kernel's time."""
    file = tmp_path / "mine.yaml"
    save_devices({"this-cpu": figures()}, file)
    device = load_devices(file)["this-cpu"]
    assert DeviceFigures(**device.model_dump(exclude={"name", "bytes_only", "notes"})) == figures()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("time: 50.0", "time: 0.0", r"devices.this-cpu.timings.kernels.*time: .*greater than 0.*0"),
        ("time: 50.0", "time: .nan", r"time: must be a valid number"),
        ("work: 1024.0", "work: -1.0", r"work: .*-1"),
        ("time: 50.0", "times: 50.0", r"times: "),
        ("host: a CPU on paper", "hosts: a CPU on paper", r"timings.hosts: "),
        ("      unit: us\n      source", "      unit: ms\n      source", r"timings.unit: .*ms"),
        ("Cast float32[8,8] -> float16[8,8]:", "Cast float32[8,8]:", r"Cast float32\[8,8\]"),
    ],
)
def test_a_faulty_calibrated_row_is_refused_with_its_place(tmp_path: Path, good: str, bad: str, words: str):
    """A figure that is missing, unknown, zero or no number: one error with file, line and field."""
    file = tmp_path / "mine.yaml"
    save_devices({"this-cpu": figures()}, file)
    text = file.read_text(encoding="utf-8")
    assert good in text
    file.write_text(text.replace(good, bad, 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"mine.yaml:\d+:\d+: .*{words}"):
        load_devices(file)


def test_a_row_without_launch_is_refused(tmp_path: Path):
    """The error says which figure is missing."""
    file = tmp_path / "mine.yaml"
    file.write_text("schema: halfwise/devices/1\ndevices:\n  mine:\n    title: A card\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine.yaml:4:5: devices.mine.launch: is required"):
        load_devices(file)


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path):
    """The error names the file, and nothing is left behind."""
    with pytest.raises(HalfwiseError, match=r"cannot write .*none/mine.yaml: its folder does not exist"):
        save_devices({"this-cpu": figures()}, tmp_path / "none" / "mine.yaml")
