"""What a workload's `evaluate` gave, as the one finite number that it must be."""

import math
import reprlib

import numpy as np

from ..policies.errors import HalfwiseError


class NoQuality(HalfwiseError):
    """What `evaluate` gave cannot be compared; the message is the cause for the trial's outcome."""


def quality_of(value: object, metric: str) -> float:
    """The number: a Python or NumPy number, or an array or Tensor that holds just one.

    Raises:
        NoQuality: several values, none, something that is no number, NaN or infinity.
    """
    numbers = _as_array(value)
    if numbers is None or numbers.size != 1 or numbers.dtype.kind not in "iuf":
        raise NoQuality(f"evaluate() must give one number, the {metric}, but gave {reprlib.repr(value)}")
    quality = float(numbers.item())
    if not math.isfinite(quality):
        raise NoQuality(f"{metric} is {quality}")
    return quality


def _as_array(value: object) -> np.ndarray | None:
    asnumpy = getattr(value, "asnumpy", None)
    try:
        return np.asarray(value if asnumpy is None else asnumpy())
    except ValueError:
        # A list of lists of several lengths.
        return None
