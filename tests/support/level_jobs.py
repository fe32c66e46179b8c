"""Compiles training steps under MindSpore's own mixed-precision levels, and under halfwise's, in fresh processes."""

import importlib.util
import os
import pickle
import re
import tempfile
from pathlib import Path
from typing import Any

import mindspore as ms
from mindspore import nn

from halfwise.evaluators.device import use_device
from halfwise.evaluators.evidence import asked_hash, mark_layers, read_op_table
from halfwise.evaluators.graph_dump import dumped_graphs
from halfwise.evaluators.step import TrainStep
from halfwise.evaluators.training import as_tensors
from halfwise.evaluators.workload_reference import load_workload
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies import BUILTIN
from halfwise.policies.rewrite import apply, make_scaler, read_outline


def compiled(workload: str, level: str, by: str, out: str = "") -> Any:
    use_device("CPU", "graph")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mod = resolve_reference(workload).split(":")[0]
        src = Path(importlib.util.find_spec(mod).origin).read_text()
        src = re.sub(r"^from \.\.\.", "from halfwise.", src, flags=re.M)
        src = re.sub(r"^from \.", "from halfwise.experiments.workloads.", src, flags=re.M)
        Path(folder, "absolute_workload.py").write_text(src)
        w = load_workload("absolute_workload:make_workload", Path(folder))
        ms.set_seed(1)
        network = w.network()
        dump = Path(folder) / "graphs"
        outline = read_outline(network)
        if by == "halfwise":
            network = apply(BUILTIN[level], network).network
            mark_layers(network, dump)
        elif level == "O1":
            network = ms.amp.auto_mixed_precision(network, level)
            print([ (c.path, c.type_names) for c in read_outline(network).cells])
            mark_layers(network, dump)
            outline = read_outline(network)
            if out: Path(out+".py").write_text("\n\n".join(p.read_text() for p in Path(folder,"rewritten_network").glob("*.py")))
        else:
            mark_layers(network, dump)
            network = ms.amp.auto_mixed_precision(network, level)
        optimizer = w.optimizer(network.trainable_params())
        step = TrainStep(network, w.loss(), optimizer, make_scaler(BUILTIN[level].loss_scaling), len(w.sample_batch().inputs))
        step.set_train()
        with dumped_graphs(dump):
            step.compile(*as_tensors(w.sample_batch()))
        table = read_op_table(dump, outline)
    if out:
        Path(out).write_bytes(pickle.dumps(table))
    return asked_hash(table)
