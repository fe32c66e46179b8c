"""Prices and devices in words, for the terminal."""

from collections.abc import Iterator

from ..evaluators.inspection_result import Inspection
from ..evaluators.price.devices import Device, Figure


def price_lines(name: str, found: Inspection, speed_up: float) -> Iterator[str]:
    """One policy's price: its figures, the speed-up over float32, and the boundaries that cost most."""
    pricing = found.pricing
    if pricing is None:
        return
    stage = "" if pricing.stage == "asked" else f" ({pricing.stage} stage)"
    yield f"{name} on {found.workload}, priced on {pricing.device}{stage}, not measured"
    yield f"  {found.evidence.summary.partition('; on this')[0]}"
    yield f"  speed-up over float32: {speed_up:.2f}x"
    yield from (f"  {line}" for line in pricing.lines)
    for cost in pricing.boundaries:
        yield (
            f"  boundary {cost.producer} -> {cost.consumer}: {cost.casts} casts, {cost.share:.1%} of the step; "
            f"one precision on both sides would save {cost.saves_s * 1e6:.1f} us"
        )


def device_lines(device: Device) -> Iterator[str]:
    """A row of the device table with the source of each figure."""
    yield f"{device.name}: {device.title}"
    figures: dict[str, Figure | None] = {
        **{f"matrix {precision}": rate for precision, rate in device.matrix.items()},
        **{f"vector {precision}": rate for precision, rate in device.vector.items()},
        "memory bandwidth": device.bandwidth,
        "memory": device.memory,
        "link": device.link,
        "launch of an op": device.launch,
        "reachable part of a peak": device.reachable,
    }
    if device.step is not None:
        figures["a step beside its kernels"] = device.step
    for name, figure in figures.items():
        yield f"  {name}: {f'{figure} ({figure.source}, {figure.date})' if figure else 'not known'}"
    if device.timings is not None:
        timed = device.timings
        yield f"  times of {len(timed.kernels)} kernels, for {timed.host} only ({timed.source}, {timed.date})"
