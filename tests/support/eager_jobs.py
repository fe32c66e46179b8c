"""What tests of evidence in PyNative mode run in fresh processes; every function takes and returns plain data."""

import hashlib
import importlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import awkward_workloads
import mindspore as ms
import networks
import numpy as np
from mindspore import nn, ops
from tiny_workloads import Tiny, points

from halfwise.evaluators.compile_failure import DoesNotCompile
from halfwise.evaluators.device import use_device
from halfwise.evaluators.eager_step import WatchedStep, checked, partial, watch_forward
from halfwise.evaluators.evidence import SeenCall, match_seen, partial_table, watched_outputs
from halfwise.evaluators.prepared import Prepared, prepare
from halfwise.evaluators.price import price_memory
from halfwise.evaluators.proven_step import ProvenStep, compile_proven
from halfwise.evaluators.training import train
from halfwise.evaluators.workload import Workload, shuffled_batches
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies import parse_policy
from halfwise.policies.rewrite.network_outline import named_cells


class _Regression(Tiny):
    """Trains one of the awkward networks on rows of 8."""

    def __init__(self, network: str):
        self._network = network

    def network(self) -> nn.Cell:
        return networks.NETWORKS[self._network]()

    def loss(self) -> nn.Cell:
        return nn.MSELoss()

    def batches(self, seed: int):
        rows = np.random.default_rng(0).normal(size=(64, networks.WIDTH)).astype(np.float32)
        return shuffled_batches([rows], [rows], self.batch_size, seed)


class AllLayers(nn.Cell):
    """One of each of MindSpore's own layers whose ops are known."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8, 16)
        self.conv1d = nn.Conv1d(4, 4, 3, has_bias=True)
        self.plain1d = nn.Conv1d(4, 4, 3)
        self.conv2d = nn.Conv2d(4, 6, 3, has_bias=True)
        self.plain2d = nn.Conv2d(6, 4, 3, group=2)
        self.up2d = nn.Conv2dTranspose(4, 4, 3, has_bias=True)
        self.plain_up2d = nn.Conv2dTranspose(4, 4, 3)
        self.conv3d = nn.Conv3d(4, 4, (1, 3, 3), has_bias=True)
        self.plain3d = nn.Conv3d(4, 4, (1, 3, 3))
        self.batch_norm2d, self.group_norm = nn.BatchNorm2d(4), nn.GroupNorm(2, 4)
        self.max_pool, self.avg_pool = nn.MaxPool2d(2, 2), nn.AvgPool2d(2, 1)
        self.batch_norm1d, self.layer_norm = nn.BatchNorm1d(8), nn.LayerNorm((8,))
        self.dense, self.plain_dense = nn.Dense(4, 8), nn.Dense(8, 8, has_bias=False)
        self.row_ops = nn.SequentialCell(
            *(nn.ReLU(), nn.ReLU6(), nn.GELU(), nn.FastGelu(), nn.Sigmoid(), nn.Tanh(), nn.Softmax()),
            *(nn.LogSoftmax(), nn.SiLU(), nn.HSwish(), nn.ELU(), nn.Mish(), nn.PReLU(1), nn.Dropout(p=0.1)),
        )

    def construct(self, x):
        """(N, 2) floats to (N, 8)."""
        ids = ops.arange(0, 8).reshape(1, 8).broadcast_to((x.shape[0], 8))
        y = self.embedding(ids).reshape(-1, 4, 32) * x.sum()
        y = self.plain1d(self.conv1d(y)).reshape(-1, 4, 4, 8)
        y = self.plain_up2d(self.up2d(self.plain2d(self.conv2d(y))))
        y = self.plain3d(self.conv3d(y.reshape(-1, 4, 1, 4, 8))).reshape(-1, 4, 4, 8)
        y = self.avg_pool(self.max_pool(self.group_norm(self.batch_norm2d(y))))
        y = self.plain_dense(self.dense(y.mean((2, 3))))
        return self.row_ops(self.layer_norm(self.batch_norm1d(y)))


class _AllLayersWorkload(Tiny):
    def network(self) -> nn.Cell:
        return AllLayers()


def _prepared(workload: Workload, policy: str) -> tuple[Prepared, ProvenStep]:
    use_device("CPU", "pynative")
    asked = parse_policy(policy)
    prepared = prepare(workload, asked, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        return prepared, compile_proven(prepared, workload, asked, Path(folder))


def train_statistics(policy: str, watched: bool) -> dict[str, Any]:
    """Losses and a digest of all Parameters of a network that keeps statistics, in PyNative mode.

    `seen` are the layers that were watched, `hooks` what is left of the watching.
    """
    use_device("CPU", "pynative")
    workload = awkward_workloads.make_statistics()
    prepared = prepare(workload, parse_policy(policy), seed=1)
    seen: list[str] = []
    step = prepared.step
    if watched:
        step = WatchedStep(step, prepared.network, lambda calls: seen.extend(call.layer for call in calls))
    training = train(step, workload.batches(1), 8)
    weights = b"".join(parameter.asnumpy().tobytes() for parameter in prepared.network.get_parameters())
    return {
        "losses": [loss.hex() for loss in training.losses],
        "weights": hashlib.sha256(weights).hexdigest(),
        "seen": seen,
        "hooks": sum(len(cell._forward_hook) for _, cell in named_cells(prepared.network)),
    }


def awkward_networks(names: list[str], policies: list[str]) -> list[dict[str, Any]]:
    """What graph and PyNative mode make of networks under policies, one after the other."""
    return [_in_both_modes(_Regression(name), policy) for name in names for policy in policies]


def builtin_workload(name: str, policies: list[str]) -> list[dict[str, Any]]:
    """What the two modes make of a workload of ours under policies, one after the other."""
    reference, _, function = resolve_reference(name).partition(":")
    workload = getattr(importlib.import_module(reference), function)()
    return [_in_both_modes(workload, policy) for policy in policies]


def _in_both_modes(workload: Workload, policy: str) -> dict[str, Any]:
    prepared, proven = _prepared(workload, policy)
    match = match_seen(watch_forward(prepared, workload), proven.table)
    return {
        "policy": policy,
        "mismatches": proven.evidence.mismatches,
        "matched": proven.evidence.ops_matched,
        "compared": match.compared,
        "differing": [[m.layer, m.graph, m.seen] for m in match.mismatched],
    }


def flipped(layer: str, policy: str) -> dict[str, Any]:
    """Evidence of TinyNet where one layer's output is said to have been seen in float64."""
    workload = Tiny()
    prepared, proven = _prepared(workload, policy)
    calls = watch_forward(prepared, workload)
    other = [_in_float64(call) if call.layer == layer else call for call in calls]
    return {
        "true": checked(proven)(calls).evidence.model_dump(),
        "flipped": checked(proven)(other).evidence.model_dump(),
    }


def _in_float64(call: SeenCall) -> SeenCall:
    return replace(call, outputs=(replace(call.outputs[0], element="Float64"),))


def both_tables(policy: str) -> dict[str, Any]:
    """FLOPs, ops and precisions of every known layer by the compiled table, and what the partial one has."""
    workload = _AllLayersWorkload()
    prepared, proven = _prepared(workload, policy)
    calls = watch_forward(prepared, workload)
    judged = partial(prepared, parse_policy(policy), DoesNotCompile("on purpose"))(calls)
    forward = proven.table[(proven.table["direction"] == "forward") & ~proven.table["is_cast"].astype(bool)]
    rows = forward[forward["layer"].isin([call.layer for call in calls if call.innermost])]
    return {
        "graph": [[row.layer, row.op, row.flops, row.output_precision] for row in rows.itertuples()],
        "seen": [[row.layer, row.flops, row.output_precision] for row in judged.table.itertuples()],
        "evidence": judged.evidence.model_dump(),
        "columns": [list(proven.table.columns), list(judged.table.columns)],
    }


def calls_of_nested() -> list[dict[str, Any]]:
    """What is seen of a Cell that takes named arguments and gives nested values, and of one called twice."""
    use_device("CPU", "pynative")

    class Inner(nn.Cell):
        def construct(self, x, scale=None):
            return {"scaled": (x * scale, [x.astype(ms.int32)]), "name": "inner"}

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.same = self.inner
            self.relu = nn.ReLU()

        def construct(self, x):
            y = self.inner(x, scale=ms.Tensor(2.0, ms.float16))
            return self.relu(self.relu(self.same(y["scaled"][0], scale=x)["scaled"][0]))

    network = Outer()
    with watched_outputs(network) as calls:
        network(ms.Tensor(points()[0][:4]))
    after = len(calls)
    network(ms.Tensor(points()[0][:4]))
    table = partial_table(calls)
    return [
        {
            "layer": call.layer,
            "inputs": [str(tensor.element) for tensor in call.inputs],
            "outputs": [str(tensor.element) for tensor in call.outputs],
            "one": call.one_output,
            "casts": call.writes_casts,
            "read": int(read),
        }
        for call, read in zip(calls, table["bytes_read"], strict=True)
    ] + [{"after": len(calls) - after}]


def memory_of_tied(policy: str) -> dict[str, int]:
    """Bytes that a network with one Parameter in two layers is priced at, and those of its one Parameter."""
    _, proven = _prepared(_Regression("tied"), policy)
    memory = price_memory(proven.table)
    return {
        "weights": memory.weight_bytes,
        "gradients": memory.gradient_bytes,
        "optimizer": memory.optimizer_bytes,
        "parameter": 4 * networks.WIDTH**2,
    }
