"""The table of a network that graph mode cannot compile: what hooks saw in PyNative mode, a row a Cell call."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from ..op_columns import COLUMNS
from .costs import OpShapes, work
from .eager_outputs import SeenCall
from .layer_ops import ops_of_layer
from .value_types import TensorType


def partial_table(calls: Iterable[SeenCall]) -> pd.DataFrame:
    """One row for each call of a Cell, in the order in which they ended, with the columns of an op table.

    `op` and `graph_op` are the Cell's class, `output_precision` and `compute_precision` that of its first float
    output; all rows are forward. `flops` are those of the ops that `ops_of_layer` knows for the class, None for
    any other; the bytes are what goes in and comes out, and the Cell's own Parameters. A Cell's row covers the
    rows of those below it. What the ops inside compute in, who feeds whom, casts, gradients and the update are not
    seen: `producers` and `consumers` are empty and `kernel_precision` is None.
    """
    rows = [_row(number, call) for number, call in enumerate(calls)]
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object).set_index("id", drop=False)
    table.index.name = None
    return table


def known_ops(call: SeenCall) -> tuple[str, ...]:
    """The ops of one of MindSpore's own layers with nothing below it; empty where they aren't known."""
    if not call.innermost or not call.type_names:
        return ()
    has_bias = any((parameter.parameter or "").rpartition(".")[2] == "bias" for parameter in call.parameters)
    return ops_of_layer(call.type_names[0], has_bias)


def _row(number: int, call: SeenCall) -> dict[str, Any]:
    kind = call.type_names[0] if call.type_names else "nn.Cell"
    given = next((tensor.precision for tensor in call.outputs if tensor.precision), None)
    return {
        "id": number,
        "op": kind,
        "graph_op": kind,
        "layer": call.layer,
        "layer_certain": True,
        "direction": "forward",
        "forward_id": None,
        "input_precisions": tuple(tensor.precision for tensor in call.inputs),
        "output_precision": given,
        "compute_precision": given,
        "kernel_precision": None,
        "input_shapes": tuple(tensor.shape for tensor in call.inputs),
        "output_shapes": tuple(tensor.shape for tensor in call.outputs),
        "flops": _flops(call),
        "bytes_read": _bytes((*call.inputs, *call.parameters)),
        "bytes_written": _bytes(call.outputs),
        "producers": (),
        "consumers": (),
        "parameters": tuple(parameter.parameter for parameter in call.parameters),
        "is_cast": False,
        "cast_by": None,
        "name": f"{kind} {call.layer}".strip(),
    }


def _flops(call: SeenCall) -> int | None:
    counts = [work(_shapes(op, call)).flops for op in known_ops(call)]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def _shapes(op: str, call: SeenCall) -> OpShapes:
    tensors = (*call.inputs[:1], *call.parameters[:1])
    names = tuple(str(place) for place in range(len(tensors)))
    return OpShapes(op, names, tuple((tensor,) for tensor in tensors), call.outputs[:1])


def _bytes(tensors: Sequence[TensorType]) -> int:
    return sum(tensor.bytes for tensor in tensors)
