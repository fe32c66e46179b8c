"""The kernel stage as a table: what this device runs for a step, casts of its back end included."""

from pathlib import Path
from typing import Any

import pandas as pd

from .asked_graph import read_asked_graph
from .costs import OpShapes, work
from .kernel_graph import Kernel, read_kernel_graph
from .kernel_match import match_kernels
from .op_table import compute_precision

COLUMNS = (
    "id", "op", "asked_id", "device", "input_precisions", "output_precision", "compute_precision",
    "input_shapes", "output_shapes", "flops", "bytes_read", "bytes_written", "producers", "is_cast", "name",
)  # fmt: skip


def read_kernel_table(folder: Path) -> pd.DataFrame:
    """One row a kernel of the step that was compiled into `folder`; columns as in `read_op_table`.

    `asked_id` is the id of the op in the op table that the kernel computes, None where that cannot be told: for
    casts, and for all but the last of several kernels that one op was built from. `producers` are ids of this
    table, within the kernel's own branch.

    Raises:
        HalfwiseError: the dump is missing or cannot be read.
    """
    graph = read_asked_graph(folder)
    kernels = read_kernel_graph(folder, graph.graphs)
    asked = {found[0].id: op for op, found in match_kernels(graph.ops, kernels).items() if len(found) == 1}
    rows = [_row(kernel, asked.get(kernel.id)) for kernel in kernels]
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object).set_index("id", drop=False)
    table.index.name = None
    return table


def _row(kernel: Kernel, asked: int | None) -> dict[str, Any]:
    shapes = OpShapes(kernel.op, kernel.operands, kernel.inputs, kernel.outputs)
    cost = work(shapes)
    is_cast = kernel.op == "Cast"
    return {
        "id": kernel.id,
        "op": kernel.op,
        "asked_id": asked,
        "device": kernel.device,
        "input_precisions": tuple(tensor.precision for tensor in shapes.tensors),
        "output_precision": next((tensor.precision for tensor in kernel.outputs), None),
        "compute_precision": None if is_cast else compute_precision(shapes.tensors, kernel.outputs),
        "input_shapes": tuple(tensor.shape for tensor in shapes.tensors),
        "output_shapes": tuple(tensor.shape for tensor in kernel.outputs),
        "flops": cost.flops,
        "bytes_read": cost.bytes_read,
        "bytes_written": cost.bytes_written,
        "producers": kernel.producers,
        "is_cast": is_cast,
        "name": kernel.name,
    }
