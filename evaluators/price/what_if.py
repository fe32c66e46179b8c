"""The what-if price: what a policy would cost, from the float32 table alone, without compiling.

The forward pass is walked once, as MindSpore's autocast does it: an op with a precision of its own casts its
inputs to it, the others take the precision of their inputs (float32 where those differ). One value is cast to
one precision once. Backwards every cast turns round: the gradient of a cast value is cast back, once for each
op that took it, and gradients are added in the precision of the value they belong to. Gradient ops compute in
the precision of their forward op; loss, gradients at the update, finite check and optimizer stay in float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from .devices import Device
from .flow import Flow, build_flow
from .low_costs import RowCosts, row_costs
from .precision_width import WIDTHS
from .predicted_casts import CrossedEdge, FlowIndex, PredictedCasts, predict_casts
from .wants import AT_BORDER, FOLLOW, Want

_FLOAT32 = "float32"


@dataclass(frozen=True)
class PredictedCast:
    """A cast that a policy needs: the layers and ops at its ends, its elements, and its way.

    The op before is "" where a Parameter or an input is cast. `backward` casts carry the gradient of the
    same edge.
    """

    layer_before: str | None
    op_before: str
    layer: str | None
    op: str
    elements: int
    before: str
    after: str
    backward: bool


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
        """`float32_table` is the op table of a float32 policy with the loss scaling of those that are priced.

        `batch_size` is what it was compiled with.

        Raises:
            InputError: the device lacks a figure that float32 needs.
        """
        self.device = device
        self.flow: Flow = build_flow(float32_table, batch_size)
        self._costs: RowCosts = row_costs(float32_table, device)
        rows = self._varying_rows()
        varying = [row for op in rows for row in op]
        self._constant_s = float(np.delete(self._costs.float32_s, varying).sum())
        self._op_s = [
            {name: float(self._costs.seconds(name)[list(op)].sum()) for name in self._costs.precisions}
            for op in rows
        ]
        self._index = FlowIndex(self.flow)
        self._saved_s = lru_cache(maxsize=None)(self._costs.fused_saving_s)
        fused_ops = device.fused_casts.ops if device.fused_casts else ()
        self._fusable = [place for place, op in enumerate(self.flow.ops) if op.op in fused_ops]

    def price(self, wants: Sequence[Want]) -> float:
        """Seconds of a step when each op of the flow computes as wanted (`wants.wants` asks a policy).

        Raises:
            InputError: the device lacks a figure for a precision that is wanted.
        """
        precisions = self._spread(wants)
        return self._price(precisions, predict_casts(self._index, precisions, self._fusable, _at_border(wants)))

    def predict(self, wants: Sequence[Want]) -> Prediction:
        """What the compiled table would hold, and its price.

        Raises:
            InputError: as `price`.
        """
        precisions = self._spread(wants)
        found = predict_casts(self._index, precisions, self._fusable, _at_border(wants))
        casts = tuple(map(self._described, found.casts))
        return Prediction(tuple(precisions), casts, self._price(precisions, found))

    def _price(self, precisions: Sequence[str], found: PredictedCasts) -> float:
        seconds = self._constant_s + self._ops_s(precisions) + self._casts_s(found.casts)
        # Ops that take casts in move low data: their output, and as many inputs as casts stood before them.
        for place in found.fused_forward:
            seconds -= self._saved_s(self.flow.ops[place].rows[0], 2)
        for place, before in found.fused_backward.items():
            seconds -= sum(self._saved_s(row, before + 1) for row in self.flow.ops[place].rows[1:])
        return seconds

    def _spread(self, wants: Sequence[Want]) -> list[str]:
        precisions: list[str] = []
        for op, want in zip(self.flow.ops, wants, strict=True):
            if want != FOLLOW:
                precisions.append(_FLOAT32 if want == AT_BORDER else want)
                continue
            # A Parameter that the layer casts to its data's precision has no say.
            given = {
                precisions[edge.source] if edge.source >= 0 else _FLOAT32 for edge in op.edges if not edge.as_data
            }
            precisions.append(given.pop() if len(given) == 1 else _FLOAT32)
        return precisions

    def _ops_s(self, precisions: Sequence[str]) -> float:
        try:
            by_op = [seconds[precision] for seconds, precision in zip(self._op_s, precisions, strict=True)]
        except KeyError as unknown:
            self._costs.refuse(unknown.args[0])
            raise
        merged = self.flow.merged(precisions)
        return sum(by_op) - sum(by_op[place] for place, first in merged.items() if first != place)

    def _casts_s(self, casts: Sequence[CrossedEdge]) -> float:
        moved = sum(self._index.elements[cast.edge] * (WIDTHS[cast.before] + WIDTHS[cast.after]) for cast in casts)
        return moved / self.device.bytes_per_s + len(casts) * self.device.launch.si

    def _described(self, cast: CrossedEdge) -> PredictedCast:
        op = self.flow.ops[self._index.places[cast.edge]]
        source = self._index.sources[cast.edge]
        before = self.flow.ops[source] if source >= 0 else None
        return PredictedCast(
            layer_before=before.layer if before else None,
            op_before=before.op if before else "",
            layer=op.layer,
            op=op.op,
            elements=self._index.elements[cast.edge],
            before=cast.before,
            after=cast.after,
            backward=cast.backward,
        )

    def _varying_rows(self) -> list[tuple[int, ...]]:
        sums: dict[int, list[int]] = {}
        for row, place in self.flow.sums.items():
            sums.setdefault(place, []).append(row)
        return [(*op.rows, *sums.get(place, ())) for place, op in enumerate(self.flow.ops)]


def _at_border(wants: Sequence[Want]) -> frozenset[int]:
    return frozenset(place for place, want in enumerate(wants) if want == AT_BORDER)
