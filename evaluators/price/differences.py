"""Where a what-if price and a compiled table disagree, op by op and cast by cast, and why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import pandas as pd

from .flow import Flow
from .op_costs import precision_casts
from .wants import AT_BORDER, FOLLOW, Want
from .what_if import Prediction

NOT_APPLIED = "MindSpore did not apply the policy to this op"
FOLLOWS = "follows from another op that differs"
UNKNOWN = "the prediction is wrong here"


@dataclass(frozen=True)
class Difference:
    """What one side holds and the other doesn't, how often (above 0: compiled more often), and the cause."""

    what: str
    surplus: int
    cause: str


def differences(
    prediction: Prediction, wants: Sequence[Want], flow: Flow, table: pd.DataFrame
) -> tuple[Difference, ...]:
    """Every difference between the prediction for a policy and the op table compiled under it."""
    refused = _refused(wants, flow, table)
    ops = _counted(_compiled_ops(table), _predicted_ops(prediction, flow))
    found = [
        Difference(
            f"{op} of {layer or 'the network itself'} in {precision}", surplus, _cause(refused, (op, layer))
        )
        for (op, layer, precision), surplus in ops.items()
    ]
    follows = FOLLOWS if found else UNKNOWN
    for (way, before, after, elements), surplus in _counted(
        _compiled_casts(table), _predicted_casts(prediction)
    ).items():
        found.append(Difference(f"{way} cast of {elements} elements from {before} to {after}", surplus, follows))
    return tuple(found)


def _counted(compiled: Counter, predicted: Counter) -> Counter:
    surplus = Counter(compiled)
    surplus.subtract(predicted)
    return Counter({key: count for key, count in surplus.items() if count})


def _cause(refused: set, place: tuple[str, str]) -> str:
    return NOT_APPLIED if place in refused else UNKNOWN


def _refused(wants: Sequence[Want], flow: Flow, table: pd.DataFrame) -> set[tuple[str, str]]:
    """Ops and layers that compute in another precision than the one they were told."""
    told = {
        (op.op, op.layer): "float32" if want == AT_BORDER else want
        for op, want in zip(flow.ops, wants, strict=True)
        if want != FOLLOW
    }
    rows = table[table["direction"] == "forward"].itertuples()
    return {
        (row.graph_op, row.layer)
        for row in rows
        if isinstance(row.compute_precision, str)
        and told.get((row.graph_op, row.layer), row.compute_precision) != row.compute_precision
    }


def _compiled_ops(table: pd.DataFrame) -> Counter:
    forward = table[(table["direction"] == "forward") & ~table["is_cast"].astype(bool)].itertuples()
    rows = [row for row in forward if isinstance(row.compute_precision, str) and row.bytes_written]
    return Counter((row.graph_op, row.layer, row.compute_precision) for row in rows)


def _predicted_ops(prediction: Prediction, flow: Flow) -> Counter:
    merged = flow.merged(prediction.precisions)
    return Counter(
        (op.op, op.layer, precision)
        for place, (op, precision) in enumerate(zip(flow.ops, prediction.precisions, strict=True))
        if op.layer is not None and not op.is_view and merged.get(place, place) == place
    )


def _compiled_casts(table: pd.DataFrame) -> Counter:
    rows = table[precision_casts(table)].itertuples()
    return Counter(
        (
            _way(row.direction == "gradient"),
            row.input_precisions[0],
            row.output_precision,
            prod(row.output_shapes[0]),
        )
        for row in rows
    )


def _predicted_casts(prediction: Prediction) -> Counter:
    return Counter((_way(cast.backward), cast.before, cast.after, cast.elements) for cast in prediction.casts)


def _way(backward: bool) -> str:
    return "backward" if backward else "forward"
