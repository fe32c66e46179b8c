"""Holds a rewritten network against the one that it was made from, on real inputs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from ...errors import HalfwiseError
from .copies import copy_network


@dataclass(frozen=True)
class Equality:
    """The largest difference of any output, relative to its largest magnitude or to 1, whichever is greater.

    `tolerance` is what the rules allow; `outputs` is how many outputs were compared.
    """

    largest_difference: float
    tolerance: float
    outputs: int


def compare(
    original: nn.Cell, rewritten: nn.Cell, inputs: Sequence[Any], tolerance: float, changes_types: bool = False
) -> Equality:
    """Run both networks on the inputs as for evaluation, in the mode that is set, and compare what comes out.

    Both run as copies in evaluation mode, from the same random state; Parameters and random state are as before
    afterwards. NaN equals NaN.

    Raises:
        HalfwiseError: structure, types, shapes or values differ beyond the tolerance, the rewritten network does
            not run, or the original's outputs differ from run to run.
    """
    with _kept_state(original, rewritten) as rewind:
        reference = _outputs(original, inputs, rewind, runs=2)
        try:
            (found,) = _outputs(rewritten, inputs, rewind, runs=1)
        except Exception as error:
            first = next(iter(str(error).strip().splitlines()), "no message")
            raise HalfwiseError(f"the rewritten network does not run: {type(error).__name__}: {first}") from error
    if not _same(reference[0], reference[1]):
        raise HalfwiseError(
            "the network's outputs differ from run to run, so a rewritten one cannot be compared with it: "
            "take out what is random or keeps state in evaluation"
        )
    return _judged(reference[0], found, tolerance, changes_types)


def _judged(
    wanted: Mapping[str, Any], found: Mapping[str, Any], tolerance: float, changes_types: bool
) -> Equality:
    if list(wanted) != list(found):
        raise HalfwiseError(f"the rewritten network gives {_listed(found)}, not {_listed(wanted)}")
    largest = 0.0
    for name, value in wanted.items():
        if value.shape != found[name].shape or (value.dtype != found[name].dtype and not changes_types):
            raise HalfwiseError(
                f"{name} of the rewritten network is {found[name].dtype} {found[name].shape}, "
                f"not {value.dtype} {value.shape}"
            )
        largest = max(largest, _difference(value, found[name]))
    if not largest <= tolerance:
        raise HalfwiseError(
            f"the rewritten network computes something else: outputs differ by {largest:.2g}, "
            f"but the rules allow {tolerance:.2g}"
        )
    return Equality(largest, tolerance, len(wanted))


def _difference(wanted: np.ndarray, found: np.ndarray) -> float:
    if not wanted.size or np.array_equal(wanted, found, equal_nan=wanted.dtype.kind == "f"):
        return 0.0
    first, second = wanted.astype(np.float64), found.astype(np.float64)
    if not np.array_equal(np.isfinite(first), np.isfinite(second)):
        return float("inf")
    finite = np.isfinite(first)
    scale = max(1.0, float(np.abs(first[finite]).max(initial=0)))
    return float(np.abs(first[finite] - second[finite]).max(initial=0)) / scale


def _same(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> bool:
    return list(one) == list(other) and all(_difference(one[name], other[name]) == 0 for name in one)


def _outputs(network: nn.Cell, inputs: Sequence[Any], rewind: Any, runs: int) -> list[dict[str, np.ndarray]]:
    """Each output of each run by its place: "output", "output[1]", "output['x']"."""
    copy = copy_network(network).set_train(False)
    found = []
    for _ in range(runs):
        rewind()
        # In graph mode `x += y` writes into the very tensor that a network was called with.
        own = [each.copy() if isinstance(each, ms.Tensor) else each for each in inputs]
        found.append(dict(_leaves(copy(*own), "output")))
    return found


def _leaves(value: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _leaves(each, f"{name}[{index}]")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, f"{name}[{key!r}]")
    elif isinstance(value, ms.Tensor):
        # NumPy has no bfloat16, and float32 holds every one of its numbers.
        held = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
        yield f"{name} ({value.dtype})" if value.dtype == ms.bfloat16 else name, held.asnumpy().copy()
    else:
        yield name, np.asarray(value)


def _listed(outputs: Mapping[str, Any]) -> str:
    return ", ".join(outputs) or "nothing"


@contextmanager
def _kept_state(*networks: nn.Cell) -> Iterator[Any]:
    """Yields what sets Parameters, buffers and random state back to how they are now; done at the end too."""
    held = {id(each): each for network in networks for each in (*network.get_parameters(), *network.buffers())}
    values = {key: each.asnumpy().copy() for key, each in held.items() if each.dtype != ms.bfloat16}
    random = ms.get_rng_state()

    def rewind() -> None:
        ms.set_rng_state(random)
        for key, value in values.items():
            if not np.array_equal(held[key].asnumpy(), value, equal_nan=value.dtype.kind == "f"):
                held[key].set_data(ms.Tensor(value))

    try:
        yield rewind
    finally:
        rewind()
