"""What a rule about precision is, and the curves that turn a figure into a probability."""

import math
from dataclasses import dataclass
from typing import Protocol

from ..precision import LowPrecision
from .statistics import GroupStatistics

# Never certain either way: a group that fails alone may be cured by its neighbour, and what was not seen may come.
LEAST, MOST = 1e-4, 0.99


@dataclass(frozen=True)
class Harm:
    """A rule's answer: how likely a precision harms the training, and why, with the numbers."""

    rule: str
    probability: float
    reason: str


class Rule(Protocol):
    """One way in which low precision harms; `judge` looks at a group and gives None where it knows nothing."""

    @property
    def name(self) -> str:
        """One or two words, as reports show them."""
        ...

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """The harm of running the group in the precision."""
        ...


def bounded(probability: float) -> float:
    """The probability, kept away from 0 and 1."""
    return min(max(probability, LEAST), MOST)


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)) without overflow."""
    return 0.5 * (1.0 + math.tanh(0.5 * x))


def saturating(x: float, middle: float, order: int = 2) -> float:
    """Hill's curve x^n / (x^n + middle^n): 0 at 0, a half at `middle`, towards 1 beyond; `x` is not negative."""
    if x <= 0:
        return 0.0
    return logistic(order * (math.log(x) - math.log(middle)))


def place(op: str, direction: str, kind: str) -> str:
    """An op's tensor in words."""
    return f"{op} ({'gradient' if direction == 'gradient' else f'forward {kind}'})"
