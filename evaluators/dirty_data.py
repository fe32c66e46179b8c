"""Training data that no precision can train on: NaN and infinity in inputs or labels."""

import itertools
from collections.abc import Iterator

import numpy as np

from .workload import Batch


def first_dirty(batches: Iterator[Batch], count: int) -> str | None:
    """Where the first `count` batches hold the first value that is not finite; None if they hold none.

    In words, such as "batch 3 holds nan in input 0, row 5, column 2 (4 such values in that array)". Batches,
    arrays, rows and columns are counted from 0. Arrays of integers are always finite.
    """
    for number, batch in enumerate(itertools.islice(batches, count)):
        for kind, arrays in (("input", batch.inputs), ("label", batch.labels)):
            for index, array in enumerate(arrays):
                if (place := _place(array)) is not None:
                    return f"batch {number} holds {place[0]} in {kind} {index}, {place[1]}"
    return None


def _place(array: np.ndarray) -> tuple[float, str] | None:
    """The first value that is not finite, and where it stands in words."""
    if array.dtype.kind != "f":
        return None
    dirty = np.argwhere(~np.isfinite(array))
    if not len(dirty):
        return None
    first = tuple(int(index) for index in dirty[0])
    words = f"row {first[0]}" if first else "its only value"
    if len(first) > 1:
        words += f", column {first[1] if len(first) == 2 else first[1:]}"
    more = f" ({len(dirty)} such values in that array)" if len(dirty) > 1 else ""
    return float(array[first]), words + more
