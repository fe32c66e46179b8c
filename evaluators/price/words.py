"""A price in words, for the terminal: every figure says which device it is priced on."""

from .devices import Device
from .gradient_sum import GradientSum
from .memory import Memory
from .price import Price

_MIB = 2**20


def describe(
    price: Price,
    batch_size: int,
    float32: Price | None = None,
    memory: Memory | None = None,
    device: Device | None = None,
    summed: GradientSum | None = None,
) -> tuple[str, ...]:
    """One line a figure.

    With the `float32` price of the same step there is a speed-up; with `memory` its sum, and with `device` the
    largest batch that fits there. `summed` gradients are in the price, whose step is that of each device.
    """
    label = price.label
    lines = [*_step_lines(price, batch_size, summed or GradientSum(1, 0, 0.0, ()))]
    if float32 is not None:
        lines.append(f"speed-up over float32: {float32.step_time_s / price.step_time_s:.2f}, {label}")
    shares = ", ".join(f"{share:.1%} {name}" for name, share in price.flops_share.items())
    lines += [
        f"arithmetic: {shares or 'none'}, {label}",
        f"casts: {price.casts.count}, {price.casts.share:.1%} of the step, {label}",
        *(_costly(price)),
        *(f"priced by bytes alone, without a rule for its arithmetic: {name}" for name in price.by_bytes_only),
        *(_memory_lines(memory, batch_size, device) if memory is not None else ()),
        *(f"assumed: {assumption}" for assumption in price.assumptions),
        *(f"assumed: {assumption}" for assumption in (summed.assumptions if summed else ())),
    ]
    return tuple(lines)


def _step_lines(price: Price, batch_size: int, summed: GradientSum) -> list[str]:
    label = price.label
    lines = [f"step time: {price.step_time_s * 1e3:.3f} ms, {label}"]
    if summed.devices > 1:
        lines.append(
            f"sum of gradients over {summed.devices} devices: {summed.bytes_sent / _MIB:.1f} MiB sent by each, "
            f"{summed.seconds * 1e3:.3f} ms, {summed.seconds / price.step_time_s:.1%} of the step, {label}"
        )
    throughput = summed.devices * price.throughput_samples_per_s(batch_size)
    each = " on each device" if summed.devices > 1 else ""
    return [*lines, f"throughput: {throughput:.0f} samples/s at batch size {batch_size}{each}, {label}"]


def _costly(price: Price) -> list[str]:
    return [
        f"stayed float32: {cost.op} of {cost.layer or 'the network itself'} ({cost.direction}), "
        f"{cost.seconds * 1e6:.1f} us, {price.label}"
        for cost in price.costliest_float32
    ]


def _memory_lines(memory: Memory, batch_size: int, device: Device | None) -> list[str]:
    activations = ", ".join(f"{size / _MIB:.0f} MiB {name}" for name, size in memory.activation_bytes.items())
    lines = [
        f"memory: {memory.total_bytes / _MIB:.0f} MiB at least: weights {memory.weight_bytes / _MIB:.0f} MiB, "
        f"gradients {memory.gradient_bytes / _MIB:.0f} MiB, optimizer {memory.optimizer_bytes / _MIB:.0f} MiB, "
        f"low copies of weights {memory.weight_copy_bytes / _MIB:.0f} MiB, "
        f"saved activations {activations or 'none'}"
    ]
    if device is not None and activations:
        fits = memory.largest_batch(batch_size, device)
        lines.append(f"largest batch that fits: {fits} at most, priced on {device.name}")
    return lines
