"""Runs a calibration for a person: finds the device, times it, writes the device file."""

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.calibration.calibrate import Calibration, Calibrator
from ..evaluators.device_facts import learn_device
from ..evaluators.device_names import DeviceChoice
from ..evaluators.price.device_file import save_devices
from ..evaluators.price.devices import Device
from .price_words import device_lines
from .workloads import resolve_for_pricing


@dataclass(frozen=True)
class Calibrated:
    """What was found, under its row's name, and where it was written."""

    name: str
    found: Calibration
    file: Path

    @property
    def lines(self) -> Iterator[str]:
        """The row as `halfwise devices` shows it, what has no time, and how to use it."""
        yield from device_lines(Device(name=self.name, **dict(self.found.row)))
        for reason, count in Counter(self.found.left_out.values()).items():
            yield f"  {count} kernels have no time: {reason}"
        yield f"written to {self.file}: halfwise price ... --price-for {self.name} --device-file {self.file}"


def calibrate_device(
    file: Path,
    name: str | None,
    device: DeviceChoice,
    workloads: Sequence[str],
    seconds: float,
    say: Callable[[str], None],
) -> Calibrated:
    """Calibrate within `seconds` and write the device file; one that is there already is replaced.

    Raises:
        InputError: a workload is wrong.
        HalfwiseError: the device cannot be used, or a job failed.
    """
    deadline_s = time.monotonic() + seconds
    references = tuple(map(resolve_for_pricing, workloads))
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        facts = learn_device(device, Path(scratch))
        found = Calibrator(facts, Path(scratch)).calibrate(references, Path.cwd(), deadline_s, say)
    row = name or f"this-{facts.target.lower()}"
    save_devices({row: found.row}, file)
    return Calibrated(row, found, file)
