"""The memory that a training step needs, counted from its op table."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import pandas as pd

from ...policies.errors import InputError
from ...policies.precision import LOW_PRECISIONS
from .devices import Device
from .precision_width import WIDTHS


@dataclass(frozen=True)
class Memory:
    """Bytes that a step holds at its fullest, between forward and backward.

    `activation_bytes`, by precision, are the forward values that the backward pass reads again, each counted
    once; `weight_copy_bytes` the low copies of weights among them, which don't grow with the batch. Workspaces,
    fragmentation and passing values are not counted: a device needs more than this.
    """

    weight_bytes: int
    gradient_bytes: int
    optimizer_bytes: int
    weight_copy_bytes: int
    activation_bytes: Mapping[str, int]

    @property
    def total_bytes(self) -> int:
        """All of it."""
        return self.fixed_bytes + sum(self.activation_bytes.values())

    @property
    def fixed_bytes(self) -> int:
        """What is there whatever the batch size."""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes + self.weight_copy_bytes

    @property
    def least_bytes(self) -> int:
        """What no policy gets below, if this is the memory of the float32 step.

        Weights, gradients and optimizer state are float32 under every policy; a saved value has at least half
        the width.
        """
        return (
            self.weight_bytes
            + self.gradient_bytes
            + self.optimizer_bytes
            + sum(self.activation_bytes.values()) // 2
        )

    def largest_batch(self, batch_size: int, device: Device) -> int:
        """The largest batch that fits, by what is counted here; `batch_size` is the compiled one. 0: none fits.

        Raises:
            InputError: the batch size is below 1, nothing grows with it, or the device's memory is not known.
        """
        activations = sum(self.activation_bytes.values())
        if batch_size < 1 or activations == 0:
            raise InputError(
                f"the largest batch follows from saved activations of a batch of 1 or more; got {activations} "
                f"bytes at batch size {batch_size}"
            )
        free = device.memory_bytes - self.fixed_bytes
        return max(0, int(free * batch_size // activations))


def price_memory(table: pd.DataFrame) -> Memory:
    """Count what a step holds; the table is an op table (the asked stage)."""
    weights = state = 0
    for row in table[table["direction"] == "update"].itertuples():
        if row.parameters and row.bytes_written and row.input_shapes[0] != ():
            own = prod(row.input_shapes[0]) * WIDTHS[row.input_precisions[0] or "float32"]
            weights += own
            state += max(0, row.bytes_written - own)
    copies, activations = _saved(table)
    return Memory(weights, weights, state, copies, activations)


def _saved(table: pd.DataFrame) -> tuple[int, Mapping[str, int]]:
    """Bytes of low weight copies, and of saved activations by precision."""
    rows = {row.id: row for row in table.itertuples()}
    saved: dict[int, int] = {}
    for row in rows.values():
        if row.direction == "gradient":
            for number in row.producers:
                base = _base(rows, number)
                if rows[base].direction in ("forward", "loss"):
                    saved[base] = max(saved.get(base, 0), _bytes_kept(rows[base], row))
    copies, by_precision = 0, defaultdict(int)
    for number, kept in saved.items():
        row = rows[number]
        if row.is_cast and row.parameters and row.output_precision in LOW_PRECISIONS:
            copies += kept
        elif row.output_precision is not None:
            by_precision[row.output_precision] += kept
    return copies, dict(sorted(by_precision.items()))


def _base(rows: Mapping[int, Any], number: int) -> int:
    """The op that made the bytes which a view shows in another shape."""
    row = rows[number]
    while row.bytes_written == 0 and row.producers and row.producers[0] in rows:
        number = row.producers[0]
        row = rows[number]
    return number


def _bytes_kept(made: Any, taken_by: Any) -> int:
    """Of an op with several outputs its own gradient keeps the statistics; anybody else takes the first output."""
    width = WIDTHS[made.output_precision] if made.output_precision else 1
    first = prod(made.output_shapes[0]) * width
    if len(made.output_shapes) == 1 or taken_by.forward_id != made.id:
        return first
    return sum(prod(shape) for shape in made.output_shapes[1:]) * WIDTHS["float32"]
