from pathlib import Path

import pytest

from halfwise.evaluators.price import assume, find_device, load_devices
from halfwise.policies import InputError

ROW = """schema: halfwise/devices/1
devices:
  mine:
    title: My card
    matrix:
      float32: {value: 10, unit: TFLOP/s, source: measured, date: 2026-01-02}
    bandwidth: {value: 500, unit: GB/s, source: measured, date: 2026-01-02}
    launch: {value: 2, unit: us, source: measured, date: 2026-01-02}
    reachable: {value: 0.5, unit: share, source: measured, date: 2026-01-02}
"""


def test_the_table_holds_the_devices_with_their_figures_in_si_units():
    """The built-in rows are there, and A100's TF32 row gives what its datasheet says."""
    devices = load_devices()
    assert list(devices) == [
        *("v100", "a100", "a100-tf32", "a100-tf32-no-launch", "h100-tf32", "h200-tf32"),
        *("ascend-910a", "ascend-910b2", "ascend-910b3", "ascend-910b4"),
    ]
    a100 = devices["a100-tf32"]
    assert a100.flops_per_s("matrix", "float32") == 156e12
    assert a100.flops_per_s("vector", "float16") == 78e12
    assert a100.bytes_per_s == 2.04e12
    assert a100.memory_bytes == 80e9
    assert a100.launch.si == pytest.approx(3e-6)


def test_every_figure_has_its_source_and_date():
    """Figures carry where they are from, and only launch cost and reachable part are assumptions."""
    for device in load_devices().values():
        figures = [*device.matrix.values(), *device.vector.values(), device.bandwidth, device.memory, device.link]
        known = [figure for figure in figures if figure is not None]
        assert all(figure.source and figure.date.year == 2026 and not figure.assumed for figure in known)
        assert device.launch.assumed
        assert device.reachable.assumed
        assert len(device.assumptions) == 2


def test_unknown_figures_are_absent():
    """No Ascend row knows a float32 matrix rate, and the 910A no bandwidth."""
    devices = load_devices()
    ascend = [device for name, device in devices.items() if name.startswith("ascend")]
    assert len(ascend) == 4
    assert all("float32" not in device.matrix for device in ascend)
    assert devices["ascend-910a"].bandwidth is None


def test_an_unknown_device_is_refused_with_near_misses():
    """The error names what was typed, what may be meant and all rows."""
    with pytest.raises(InputError, match=r"unknown device 'A100-tf23'; did you mean 'a100-tf32'.*known are v100"):
        find_device("A100-tf23", load_devices())


def test_a_figure_that_is_missing_is_refused_by_name():
    """The error names device, figure, field, and what can be done."""
    device = load_devices()["ascend-910a"]
    with pytest.raises(
        InputError, match=r"device ascend-910a .* memory bandwidth .*\(bandwidth is absent\).*device file"
    ):
        _ = device.bytes_per_s
    with pytest.raises(InputError, match=r"its float32 matrix rate is not known \(matrix.float32 is absent\)"):
        device.flops_per_s("matrix", "float32")


def test_a_device_file_adds_rows_and_replaces_whole_rows(tmp_path: Path):
    """A row of the user's own is there beside the built-in ones, and its reachable part counts."""
    file = tmp_path / "devices.yaml"
    file.write_text(ROW + ROW.partition("devices:\n")[2].replace("mine", "v100"))
    devices = load_devices(file)
    assert devices["mine"].flops_per_s("matrix", "float32") == 5e12
    assert devices["mine"].bytes_per_s == 250e9
    assert devices["mine"].assumptions == ()
    assert devices["v100"].title == "My card"
    assert devices["v100"].memory is None
    assert devices["a100"].title == load_devices()["a100"].title


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("value: 500", "value: -500", r"devices.yaml:7:24: devices.mine.bandwidth.value: .*-500"),
        ("unit: GB/s", "unit: GiB", r"devices.yaml:7:35: devices.mine.bandwidth.unit: .*GiB"),
        (
            ", source: measured, date: 2026-01-02}\n    bandwidth",
            "}\n    bandwidth",
            r"devices.yaml:6:\d+: .*source",
        ),
        ("halfwise/devices/1", "halfwise/devices/9", r"devices.yaml:1:9: schema"),
        ("value: 0.5", "value: 1.5", r"devices.yaml:9:24: devices.mine.reachable.value"),
        ("    launch", "    lunch", r"devices.yaml:8:5: devices.mine.lunch"),
    ],
)
def test_a_faulty_device_file_is_refused_with_its_place(tmp_path: Path, good: str, bad: str, words: str):
    """Every problem is told with file, line and column."""
    file = tmp_path / "devices.yaml"
    file.write_text(ROW.replace(good, bad, 1))
    with pytest.raises(InputError, match=words):
        load_devices(file)


def test_a_device_file_that_is_not_there_is_refused(tmp_path: Path):
    """The error names the file."""
    with pytest.raises(InputError, match=r"none.yaml: cannot be read"):
        load_devices(tmp_path / "none.yaml")


def test_an_assumption_stands_in_for_an_unknown_rate_and_is_told():
    """As another precision, as a number, or left out: each is used, and each is among the assumptions."""
    device = load_devices()["ascend-910b2"]
    as_float16 = assume(device, "matrix", "float32", "as float16")
    assert as_float16.flops_per_s("matrix", "float32") == 354e12
    assert any("float32 matrix work runs as float16" in words for words in as_float16.assumptions)
    stated = assume(device, "matrix", "float32", 100)
    assert stated.flops_per_s("matrix", "float32") == 100e12
    assert any("100 TFLOP/s (assumed)" in words for words in stated.assumptions)
    by_bytes = assume(device, "vector", "float32", "bytes only")
    assert by_bytes.flops_per_s("vector", "float32") == float("inf")
    assert any("priced by its bytes alone" in words for words in by_bytes.assumptions)


@pytest.mark.parametrize("rate", ["as bfloat32", "fast", 0, -1.0, float("inf"), float("nan")])
def test_a_meaningless_assumption_is_refused(rate: str | float):
    """The error says what an assumption may be, or what is not known either."""
    with pytest.raises(InputError, match="float32 matrix work"):
        assume(load_devices()["ascend-910b2"], "matrix", "float32", rate)


def test_a_figure_with_a_source_is_not_assumed_away():
    """What is known is replaced by a device file, not by an assumption."""
    with pytest.raises(InputError, match="device file of your own"):
        assume(load_devices()["a100"], "matrix", "float32", 999)
