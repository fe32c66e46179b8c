"""Compiles training steps under MindSpore's own mixed-precision levels and halfwise's, for fresh processes."""

import contextlib
import importlib.util
import re
import tempfile
from pathlib import Path
from typing import Any, Literal

import mindspore as ms
import pandas as pd
from mindspore import nn

from halfwise.evaluators.device import use_device
from halfwise.evaluators.evidence import mark_layers, read_op_table
from halfwise.evaluators.graph_dump import dumped_graphs
from halfwise.evaluators.step import TrainStep
from halfwise.evaluators.training import as_tensors
from halfwise.evaluators.workload import Workload
from halfwise.evaluators.workload_reference import load_workload
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies import BUILTIN, NetworkOutline
from halfwise.policies.rewrite import apply, make_scaler, read_outline

Source = Literal["mindspore", "halfwise"]


def asked_ops(workload: str, level: str, by: Source) -> dict[str, Any]:
    """The asked stage of a built-in workload's training step under a level, as MindSpore or halfwise sets it.

    `ops` has [direction, layer, op, output shape, input precisions, output precision] for each op.
    """
    use_device("CPU", "graph")
    # MindSpore's O1 writes its new network into the working folder.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        loaded = _with_absolute_imports(workload, Path(folder))
        ms.set_seed(1)
        network = loaded.network()
        # Before MindSpore wraps or replaces Cells: their paths and classes are the user's.
        outline = read_outline(network)
        dump = Path(folder) / "graphs"
        network = _lowered(network, level, by, dump, outline)
        table = _compiled(loaded, network, level, dump, outline)
        return {"ops": [_op(row) for row in table.to_dict("records")]}


def _with_absolute_imports(workload: str, folder: Path) -> Workload:
    """The workload from a copy of its module: MindSpore's O1 fails on a module with relative imports."""
    module, _, function = resolve_reference(workload).partition(":")
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    source = re.sub(
        r"^from (\.+[\w.]*)",
        lambda written: f"from {importlib.util.resolve_name(written[1], found.parent)}",
        Path(found.origin).read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    (folder / "absolute_workload.py").write_text(source, encoding="utf-8")
    return load_workload(f"absolute_workload:{function}", folder)


def _lowered(network: nn.Cell, level: str, by: Source, dump: Path, outline: NetworkOutline) -> nn.Cell:
    """The network under the level, its Cells marked with their numbers in the outline."""
    if by == "mindspore" and level != "O1":
        # These levels keep the Cells and put wrappers around some: wrappers are no layers.
        mark_layers(network, dump)
        return ms.amp.auto_mixed_precision(network, level)
    if by == "mindspore":
        network = ms.amp.auto_mixed_precision(network, level)
    else:
        network = apply(BUILTIN[level], network).network
    # MindSpore's O1 makes a new class of each Cell, with new source, in the same places.
    assert [cell.path for cell in read_outline(network).cells] == [cell.path for cell in outline.cells]
    mark_layers(network, dump)
    return network


def _compiled(
    workload: Workload, network: nn.Cell, level: str, dump: Path, outline: NetworkOutline
) -> pd.DataFrame:
    batch = workload.sample_batch()
    optimizer = workload.optimizer(network.trainable_params())
    scaler = make_scaler(BUILTIN[level].loss_scaling)
    step = TrainStep(network, workload.loss(), optimizer, scaler, len(batch.inputs))
    step.set_train()
    with dumped_graphs(dump):
        step.compile(*as_tensors(batch))
    return read_op_table(dump, outline)


def _op(row: dict[str, Any]) -> list[Any]:
    shape = next(iter(row["output_shapes"]), None)
    names = ("direction", "layer", "graph_op")
    return [*(row[name] for name in names), shape, row["input_precisions"], row["output_precision"]]
