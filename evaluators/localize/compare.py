"""Two runs of one step, a policy's and float32's, compared op by op in the order in which they ran."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ...policies.precision import FORMATS, LowPrecision, Precision
from ..outcome import Place
from ..value_dump import read_dumped
from .deviation import GROWTH, LOST_IN_A_CAST, Deviation, allowance, deviation, handed_on
from .values import OpKey, OpValues, StepValues

# Gradients that are cut off where the forward value is beyond a bound, or not the largest.
_KINKED = ("ReLU", "Pool", "Abs", "Max", "Min", "Clamp", "Clip", "Select", "HSwish", "HSigmoid", "Shrink", "TopK")


class Departure(BaseModel):
    """An op that leaves its float32 twin by more than its precision and its inputs explain.

    `largest` is the largest absolute value that it gives in float32. `deviation` and `allowed` are relative to
    the size of the values; `finite`: every value that is finite and in range in float32 is finite under the
    policy. `lost` is the share of values that became 0. `blames` are the layers and ops whose low precision is
    at fault: the op itself, or those that feed it where it computes in float32.
    """

    model_config = ConfigDict(frozen=True)

    key: OpKey
    precision: Precision
    largest: float
    deviation: float
    allowed: float
    finite: bool
    lost: float
    blames: tuple[tuple[str, str], ...]

    def place(self, step: int) -> Place:
        """Where it is."""
        key = self.key
        return Place(step=step, layer=key.layer, op=key.graph_op, direction=key.direction)

    @property
    def ulps(self) -> float:
        """The deviation in units in the last place of the op's precision."""
        return self.deviation / FORMATS[self.precision].epsilon

    @property
    def allowed_ulps(self) -> float:
        """What was allowed, in the same units."""
        return self.allowed / FORMATS[self.precision].epsilon

    @property
    def headroom(self) -> float:
        """Doublings from the largest value to the largest that the precision holds; negative beyond it."""
        return math.log2(FORMATS[self.precision].max / self.largest) if self.largest else math.inf


class Compared(BaseModel):
    """Every departure in the order of time, how many ops were compared, and how many had no certain twin."""

    model_config = ConfigDict(frozen=True)

    departures: tuple[Departure, ...]
    compared: int
    without_twin: int


def compare(policy: StepValues, float32: StepValues, low_precision: LowPrecision) -> Compared:
    """Hold every op of a policy's step against the same op in float32; reads the tensors from disk.

    Ops of which the two graphs hold different numbers (equal ones were merged in one of them) have no certain
    twin. Behind a first value that is not finite, those that it spreads to are no departures.
    """
    twins = dict(_twins(policy, float32))
    comparison = _Comparison(low_precision)
    found = [comparison.departure(op, twins[op.key]) for op in policy.ops if op.key in twins]
    return Compared(
        departures=tuple(departure for departure in found if departure is not None),
        compared=len(twins),
        without_twin=len(policy.ops) + policy.unseen - len(twins),
    )


def _twins(policy: StepValues, float32: StepValues) -> Iterator[tuple[OpKey, OpValues]]:
    mine, theirs = (Counter(_alike(op.key) for op in step.ops) for step in (policy, float32))
    keys = {op.key for op in policy.ops}
    for op in float32.ops:
        if op.key in keys and mine[_alike(op.key)] == theirs[_alike(op.key)]:
            yield op.key, op


def _alike(key: OpKey) -> OpKey:
    return key.model_copy(update={"number": 0})


class _Comparison:
    """Goes through the ops in the order of time, and remembers by how much each one's values deviate."""

    def __init__(self, low_precision: LowPrecision) -> None:
        self._largest = FORMATS[low_precision].max
        self._given: dict[int, float] = {}

    def departure(self, op: OpValues, twin: OpValues) -> Departure | None:
        inputs = self._deviations(op.inputs, twin.inputs)
        outputs = self._deviations(op.outputs, twin.outputs, op.output_precision)
        if not outputs:
            return None
        least = _least_size(op, inputs)
        worst = max(outputs, key=lambda found: (not found.finite, found.relative(least)))
        self._given[op.id] = max(found.relative() for found in outputs)
        precision: Precision = op.precision or "float32"
        kinked = op.key.direction == "gradient" and any(word in op.key.op + op.key.graph_op for word in _KINKED)
        allowed = allowance(precision, op.summed_length, self._explained(op, inputs), kinked)
        if any(not found.finite for found in inputs) or (worst.finite and worst.relative(least) <= allowed):
            return None
        return Departure(
            key=op.key,
            precision=precision,
            largest=worst.largest,
            deviation=worst.relative(least),
            allowed=allowed,
            finite=worst.finite,
            lost=worst.lost,
            blames=((op.key.layer or "", op.key.op),) if precision != "float32" else op.fed_by,
        )

    def _explained(self, op: OpValues, inputs: Sequence[Deviation]) -> list[float]:
        """By how much each input deviates; not what was lost in the very cast that the op asked for."""
        before = [self._given.get(source, math.inf) for source in op.sources]
        most = max(LOST_IN_A_CAST, GROWTH * max(before, default=0.0))
        deviations = [found.relative() for found in inputs]
        return [each if each <= most else 0.0 for each in deviations]

    def _deviations(
        self, mine: Sequence[Path], twins: Sequence[Path], precision: str | None = None
    ) -> list[Deviation]:
        """Of each tensor of floats."""
        pairs = ((read_dumped(one), read_dumped(other)) for one, other in zip(mine, twins, strict=False))
        return [
            deviation(handed_on(one, precision), other, self._largest)
            for one, other in pairs
            if one.dtype.kind == other.dtype.kind == "f" and one.size == other.size
        ]


def _least_size(op: OpValues, inputs: list[Deviation]) -> float:
    """What a sum of so many terms would be if their signs were random: a sum that cancels is not held to less."""
    if op.summed_length is None or not inputs:
        return 0.0
    factors = inputs[:2] if "MatMul" in op.key.graph_op or "Conv" in op.key.graph_op else inputs[:1]
    return math.sqrt(op.summed_length) * math.prod(factor.size for factor in factors)
