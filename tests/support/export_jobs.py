"""Compiles training steps under exported Python files, for fresh processes."""

import importlib
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import mindspore as ms
from level_jobs import _compiled, _op
from mindspore import nn

from halfwise.evaluators.device import use_device
from halfwise.evaluators.evidence import mark_layers
from halfwise.evaluators.workload_reference import load_workload
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies import parse_policy
from halfwise.policies.rewrite import apply, make_scaler, read_outline


def asked_ops(workload: str, policy: str, file: str | None, setter: str = "set_precisions") -> list[Any]:
    """Every op of the asked stage of a workload's training step, under an exported file or the policy itself.

    `setter` is the function of the file that puts it onto a network.
    """
    use_device("CPU", "graph")
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_workload(resolve_reference(workload), Path(__file__).parent)
        ms.set_seed(1)
        network = loaded.network()
        outline = read_outline(network)
        if file is None:
            apply(parse_policy(policy), network)
        else:
            getattr(module_of(file), setter)(network)
        mark_layers(network, Path(folder) / "graphs")
        table = _compiled(loaded, network, "O0", Path(folder) / "graphs", outline)
        return [_op(row) for row in table.to_dict("records")]


def scalers(policy: str, file: str) -> list[list[Any]]:
    """Class and figures of the loss scaler: the exported file's and the policy's own."""
    found = (module_of(file).make_scaler(), make_scaler(parse_policy(policy).loss_scaling))
    return [[type(each).__name__, float(each.scale_value.asnumpy()), *map(int, _figures(each))] for each in found]


def refusal(file: str) -> str:
    """What an exported file says of a network that it was not made for."""
    try:
        module_of(file).set_precisions(nn.SequentialCell(nn.Dense(2, 2)))
    except ValueError as error:
        return str(error)
    return "nothing"


def asked_under_lists(workload: str, file: str) -> list[Any]:
    """The same as `asked_ops` under an exported file of amp lists: MindSpore's O1 makes new Cells."""
    use_device("CPU", "graph")
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_workload(resolve_reference(workload), Path(__file__).parent)
        ms.set_seed(1)
        network = loaded.network()
        outline = read_outline(network)
        network = module_of(file).lower(network)
        mark_layers(network, Path(folder) / "graphs")
        table = _compiled(loaded, network, "O0", Path(folder) / "graphs", outline)
        return [_op(row) for row in table.to_dict("records")]


def module_of(file: str) -> ModuleType:
    """The file as a module, imported as users do: graph mode reads the source of its functions."""
    sys.path.insert(0, str(Path(file).parent))
    return importlib.import_module(Path(file).stem)


def _figures(scaler: Any) -> list[Any]:
    return [getattr(scaler, "scale_factor", 0), getattr(scaler, "scale_window", 0)]
