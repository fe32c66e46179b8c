"""Makes a row of the device table of the times of single kernels."""

import datetime
from collections.abc import Mapping

import psutil

from ...policies.errors import HalfwiseError
from ...policies.precision import Precision
from ..price.devices import Bandwidth, DeviceFigures, Duration, Rate, Share, Size
from ..price.op_costs import unit_of
from ..price.signature import Signature
from ..price.timings import KernelTime, Timings
from .request import TimedKernels

_PRECISIONS: tuple[Precision, ...] = ("float32", "float16", "bfloat16")
# Neither much arithmetic nor a small tensor: what a large one of these takes is what its bytes take.
_PLAIN_OPS = ("Add", "Mul")


def device_row(
    timed: TimedKernels, works: Mapping[str, float], host: str, target: str, today: datetime.date
) -> DeviceFigures:
    """The row: every figure is the best, or for a launch the least, that a timed kernel showed.

    `works` holds FLOPs or bytes of the kernels by signature. `host` names the processor or card.

    Raises:
        HalfwiseError: too few kernels were timed to tell a launch and a bandwidth.
    """
    source = f"calibrated on {host} by halfwise calibrate, MindSpore {timed.mindspore_version}"
    times = {Signature.parse(text): seconds for text, seconds in timed.seconds.items()}
    work = {Signature.parse(text): value for text, value in works.items()}
    figures = {"source": source, "date": today}
    plain = [kernel for kernel in times if kernel.op in _PLAIN_OPS and kernel.output[0] == "float32"]
    if not plain:
        raise HalfwiseError(
            "the calibration has timed no float32 Add or Mul, so it knows neither launch nor bandwidth: give it "
            "more time with --seconds"
        )
    largest = max(plain, key=lambda kernel: (work[kernel], -times[kernel]))
    smallest = min(plain, key=lambda kernel: (work[kernel], times[kernel]))
    return DeviceFigures(
        title=f"{host}, as calibrated with MindSpore on {target}",
        matrix=_matrix_rates(times, work, figures),
        vector=_vector_rates(times, figures),
        bandwidth=Bandwidth(value=_digits(work[largest] / times[largest] / 1e9), unit="GB/s", **figures),
        memory=_memory(target, host, today),
        launch=Duration(value=_digits(times[smallest] * 1e6), unit="us", **figures),
        reachable=Share(value=1, unit="share", source=f"{source}: its rates were reached", date=today),
        step=Duration(value=_digits(timed.step_s * 1e6), unit="us", **figures),
        timings=Timings(
            host=host,
            unit="us",
            source=source,
            date=today,
            kernels={
                str(kernel): KernelTime(time=_digits(seconds * 1e6), work=work[kernel])
                for kernel, seconds in sorted(times.items(), key=lambda item: str(item[0]))
            },
        ),
    )


def _matrix_rates(times: Mapping[Signature, float], work: Mapping[Signature, float], figures: dict) -> dict:
    rates: dict[str, float] = {}
    for kernel, seconds in times.items():
        if unit_of(kernel.op) == "matrix":
            precision = kernel.inputs[0][0]
            rates[precision] = max(rates.get(precision, 0.0), work[kernel] / seconds)
    return _gigaflops(rates, figures)


def _vector_rates(times: Mapping[Signature, float], figures: dict) -> dict:
    """One operation an element: of the plain ops, the size that goes fastest."""
    rates: dict[str, float] = {}
    for kernel, seconds in times.items():
        precision, shape = kernel.output
        if kernel.op in _PLAIN_OPS and precision in _PRECISIONS:
            elements = 1
            for length in shape:
                elements *= length
            rates[precision] = max(rates.get(precision, 0.0), elements / seconds)
    return _gigaflops(rates, figures)


def _gigaflops(rates: Mapping[str, float], figures: dict) -> dict[str, Rate]:
    return {
        precision: Rate(value=_digits(rates[precision] / 1e9), unit="GFLOP/s", **figures)
        for precision in _PRECISIONS
        if precision in rates
    }


def _memory(target: str, host: str, today: datetime.date) -> Size | None:
    """Of a CPU the machine's; what a card holds is not asked for here."""
    if target != "CPU":
        return None
    total = psutil.virtual_memory().total
    return Size(value=_digits(total / 1e9), unit="GB", source=f"read from the system of {host}", date=today)


def _digits(value: float) -> float:
    """Four digits: more would be noise."""
    return float(f"{value:.4g}")
