"""A number that is neither NaN nor infinite, for values that travel as JSON."""

import math
from typing import Annotated

from pydantic import AfterValidator


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"must be a finite number, but got {value}")
    return value


Finite = Annotated[float, AfterValidator(_finite)]
