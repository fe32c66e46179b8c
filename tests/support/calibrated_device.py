"""A calibrated device on paper: four kernels with round times."""

import datetime

from price_tables import make_device

from halfwise.evaluators.price import Device
from halfwise.evaluators.price.devices import Duration
from halfwise.evaluators.price.timings import KernelTime, Timings

FIELDS = {"source": "made up for tests", "date": datetime.date(2026, 1, 1)}
TIMES_US = {
    "MatMul float32[8,8] float32[8,8] -> float32[8,8]": (50, 1024),
    "ReLU float32[8,8] -> float32[8,8]": (7, 512),
    "Cast float32[8,8] -> float16[8,8]": (3, 384),
    "Cast float32[8,8] -> float16[8,8], half zeros": (11, 384),
}


def calibrated(step_us: float = 0.0, host: str = "a CPU on paper") -> Device:
    """The device of `make_device`, with the four kernels timed and a launch of one microsecond."""
    kernels = {text: KernelTime(time=us, work=work) for text, (us, work) in TIMES_US.items()}
    timings = Timings(host=host, unit="us", kernels=kernels, **FIELDS)
    step = Duration(value=step_us, unit="us", **FIELDS)
    return make_device(launch_us=1).model_copy(update={"timings": timings, "step": step})
