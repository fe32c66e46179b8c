"""The what-if price: what a policy would cost, from the float32 table alone, without compiling.

The forward pass is walked once, as MindSpore's autocast does it: an op with a precision of its own casts its
inputs to it, the others take the precision of their inputs (float32 where those differ). One value is cast to
one precision once. Backwards every cast turns round: the gradient of a cast value is cast back, once for each
op that took it, and gradients are added in the precision of the value they belong to. Gradient ops compute in
the precision of their forward op; loss, gradients at the update, finite check and optimizer stay in float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .devices import Device
from .flow import Flow, FlowOp, build_flow
from .low_costs import RowCosts, row_costs
from .precision_width import WIDTHS
from .predicted_casts import PredictedCast, predict_casts
from .wants import FOLLOW, Want

_FLOAT32 = "float32"


@dataclass(frozen=True)
class Prediction:
    """The asked table of a policy as far as a price needs it.

    `precisions` are what each op of the flow computes in, `casts` all casts between precisions.
    """

    precisions: tuple[str, ...]
    casts: tuple[PredictedCast, ...]
    step_time_s: float


class WhatIf:
    """Prices policies for one workload on one device; everything that a policy can't change is worked out once."""

    def __init__(self, float32_table: pd.DataFrame, device: Device, batch_size: int) -> None:
        """`float32_table` is the op table of the untouched network, `batch_size` what it was compiled with.

        Raises:
            InputError: the device lacks a figure that float32 needs.
        """
        self.device = device
        self.flow: Flow = build_flow(float32_table, batch_size)
        self._costs: RowCosts = row_costs(float32_table, device)
        self._rows = self._varying_rows()
        self._constant_s = float(np.delete(self._costs.float32_s, self._moving()).sum())
        self._op_s = {precision: self._per_op(precision) for precision in self._costs.precisions}
        self._fused_s, self._fusable = self._fused()

    def price(self, wants: Sequence[Want]) -> float:
        """Seconds of a step when each op of the flow computes as wanted (`wants.wants` asks a policy).

        Raises:
            InputError: the device lacks a figure for a precision that is wanted.
        """
        return self.predict(wants).step_time_s

    def predict(self, wants: Sequence[Want]) -> Prediction:
        """What the compiled table would hold.

        Raises:
            InputError: as `price`.
        """
        precisions = self._spread(wants)
        fused = self._fused_ops(precisions)
        casts = self._casts(precisions, fused)
        seconds = self._constant_s
        counted: set[tuple[int, str]] = set()
        for place, precision in enumerate(precisions):
            key = (self.flow.ops[place].group, precision)
            if key not in counted:
                counted.add(key)
                seconds += self._fused_s[place] if place in fused else self._seconds(precision)[place]
        seconds += sum(self._cast_s(cast) for cast in casts)
        return Prediction(tuple(precisions), tuple(casts), seconds)

    def _seconds(self, precision: str) -> list[float]:
        if precision not in self._op_s:
            self._costs.refuse(precision)
        return self._op_s[precision]

    def _cast_s(self, cast: PredictedCast) -> float:
        moved = cast.elements * (WIDTHS[cast.before] + WIDTHS[cast.after])
        return moved / self.device.bytes_per_s + self.device.launch.si

    def _spread(self, wants: Sequence[Want]) -> list[str]:
        precisions: list[str] = []
        for op, want in zip(self.flow.ops, wants, strict=True):
            if want != FOLLOW:
                precisions.append(want)
                continue
            given = {precisions[edge.source] if edge.source >= 0 else _FLOAT32 for edge in op.edges}
            precisions.append(given.pop() if len(given) == 1 else _FLOAT32)
        return precisions

    def _casts(self, precisions: list[str], fused: set[int]) -> list[PredictedCast]:
        return predict_casts(self.flow, precisions, fused)

    def _fused_ops(self, precisions: list[str]) -> set[int]:
        """Normalisations in float32 between low ops, where the device takes the casts into them."""
        fused = set()
        for place in self._fusable:
            takers = self.flow.consumers[place]
            source = self.flow.ops[place].edges[0].source
            between = source >= 0 and precisions[source] != _FLOAT32 and takers
            if precisions[place] == _FLOAT32 and between and all(precisions[t] != _FLOAT32 for t in takers):
                fused.add(place)
        return fused

    def _varying_rows(self) -> list[tuple[int, ...]]:
        sums: dict[int, list[int]] = {}
        for row, place in self.flow.sums.items():
            sums.setdefault(place, []).append(row)
        return [(*op.rows, *sums.get(place, ())) for place, op in enumerate(self.flow.ops)]

    def _moving(self) -> list[int]:
        return sorted({row for rows in self._rows for row in rows})

    def _per_op(self, precision: str) -> list[float]:
        seconds = self._costs.seconds(precision)
        return [float(seconds[list(rows)].sum()) for rows in self._rows]

    def _fused(self) -> tuple[dict[int, float], tuple[int, ...]]:
        rule = self.device.fused_casts
        if rule is None:
            return {}, ()
        fusable = [place for place, op in enumerate(self.flow.ops) if op.op in rule.ops]
        low = self._costs.fused_s
        return {place: self._fused_op_s(self.flow.ops[place], low) for place in fusable}, tuple(fusable)

    def _fused_op_s(self, op: FlowOp, low: np.ndarray) -> float:
        return float(low[list(op.rows)].sum())
