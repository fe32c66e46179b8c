"""The op table: one row an op of the compiled training step, as the policy asks and as the device runs it."""

from pathlib import Path
from typing import Any

import pandas as pd

from ...policies.errors import HalfwiseError
from ...policies.ops import family
from ...policies.outline import NetworkOutline
from ..op_columns import COLUMNS
from .asked_graph import AskedGraph, AskedOp, read_asked_graph
from .attribution import Place, attribute
from .casts import cast_makers
from .costs import OpShapes, work
from .ir_text import unreadable
from .kernel_graph import Kernel, read_kernel_graph
from .kernel_match import match_kernels
from .layer_marks import has_marks, layer_number
from .value_types import TensorType


def read_op_table(folder: Path, outline: NetworkOutline) -> pd.DataFrame:
    """The table of the step that was compiled into `folder`, its network marked by `mark_layers`.

    One row an op, in the order of the graph; ops that only carry values (loads, tuples, branches) are left out
    and looked through. Columns:

    - `id` (the index too), `name`: the op's number in this table, and MindSpore's name, whose scope may lie;
    - `op`, `graph_op`: the op as policies name it (`Mul`), and as it stands in the graph (`Muls`);
    - `layer`: path in the user's network, "" for the network itself, None outside it; `layer_certain` is False
      where an op is shared by several layers, or made by the framework between them: the first of them stands;
    - `direction`: forward, loss, gradient, scaling (gradients to float32, finite check, loss scale) or update;
    - `forward_id`: a gradient op's forward op, None when that is not in the graph any more;
    - `input_precisions`: of each tensor that goes in, None for what is no float; `output_precision`: of the first
      output; `compute_precision`: of the first float that goes in, else of the output; None for casts and for
      ops without floats. These three are the asked stage: they hold for any device;
    - `kernel_precision`: the compute precision of the kernel on the device that compiled it; None where it could
      not be told which kernel it is, for casts (`read_kernel_table` has those), and throughout when the back end
      wrote no kernel stage;
    - `input_shapes`, `output_shapes`; `flops`, None without a rule; `bytes_read`, `bytes_written`; all three None
      where a shape is unknown;
    - `producers`, `consumers`: ids; `parameters`: names of the Parameters that go in;
    - `is_cast`, and `cast_by`: "policy" (autocast put it before an op), or "framework" (written in code: the
      user's, the step's or MindSpore's own). Casts of the back end are in the kernel table only.

    `table.attrs["device"]` names the device that the kernels are for, such as "CPU", or is "".

    Raises:
        HalfwiseError: the dump is missing, cannot be read, or the network was not marked before it was compiled.
    """
    graph = read_asked_graph(folder)
    _refuse_unmarked(graph, folder)
    kernels = read_kernel_graph(folder, graph.graphs) if (folder / "actor_set").exists() else ()
    matched = match_kernels(graph.ops, kernels)
    makers = cast_makers(graph.ops)
    places = _places(graph, outline)
    rows = [
        _row(op, place, matched.get(op.id, ()), makers.get(op.id))
        for op, place in zip(graph.ops, places, strict=True)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object).set_index("id", drop=False)
    table.index.name = None
    table.attrs["device"] = next((kernel.device for kernel in kernels if kernel.device), "")
    return table


def ops_without_rule(table: pd.DataFrame) -> tuple[str, ...]:
    """Names, as in the graph, of the ops without a count of operations: they are priced by their bytes alone."""
    return tuple(sorted(set(table["graph_op"][table["flops"].isna()])))


def compute_precision(inputs: tuple[TensorType, ...], outputs: tuple[TensorType, ...]) -> str | None:
    """What an op computes in: the precision of the first float that goes in, else of the first that comes out."""
    return next((tensor.precision for tensor in (*inputs, *outputs) if tensor.precision), None)


def _row(op: AskedOp, place: Place, kernels: tuple[Kernel, ...], made_by: str | None) -> dict[str, Any]:
    node = op.node
    shapes = OpShapes(node.op, node.operands, node.input_types, node.output_types)
    cost = work(shapes)
    is_cast = node.op == "Cast"
    return {
        "id": op.id,
        "op": family(node.op),
        "graph_op": node.op,
        "layer": place.layer,
        "layer_certain": place.certain,
        "direction": place.direction,
        "forward_id": place.forward,
        "input_precisions": tuple(tensor.precision for tensor in shapes.tensors),
        "output_precision": next((tensor.precision for tensor in node.output_types), None),
        "compute_precision": None if is_cast else compute_precision(shapes.tensors, node.output_types),
        "kernel_precision": _kernel_precision(kernels),
        "input_shapes": tuple(tensor.shape for tensor in shapes.tensors),
        "output_shapes": tuple(tensor.shape for tensor in node.output_types),
        "flops": cost.flops,
        "bytes_read": cost.bytes_read,
        "bytes_written": cost.bytes_written,
        "producers": op.producers,
        "consumers": op.consumers,
        "parameters": op.parameters,
        "is_cast": is_cast,
        "cast_by": made_by,
        "name": node.full_name,
    }


def _kernel_precision(kernels: tuple[Kernel, ...]) -> str | None:
    """What they compute in, if that is one answer."""
    inputs = (tuple(tensor for operand in kernel.inputs for tensor in operand) for kernel in kernels)
    found = {compute_precision(given, kernel.outputs) for given, kernel in zip(inputs, kernels, strict=True)}
    return found.pop() if len(found) == 1 else None


def _places(graph: AskedGraph, outline: NetworkOutline) -> tuple[Place, ...]:
    try:
        return attribute(graph, outline)
    except IndexError as error:
        raise unreadable(graph.file, f"marks of {len(outline.cells)} layers, as the network has") from error


def _refuse_unmarked(graph: AskedGraph, folder: Path) -> None:
    stacks = (stack for op in graph.ops for stack in (op.node.stack, *op.node.candidates))
    marked = any(layer_number(position.file) is not None for stack in stacks for position in stack)
    # A network that computes nothing, but gives its inputs or Parameters, leaves no mark either.
    if not marked and not has_marks(folder):
        raise HalfwiseError(
            f"graph dump {folder}: no op carries the mark of a layer; call mark_layers on the network before the "
            "step is compiled"
        )
