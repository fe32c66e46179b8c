"""A program for `msrun`: each process trains a tiny workload on its part of each batch; writes what it found."""

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from tiny_workloads import make_tiny

from halfwise.evaluators.data_parallel import DataParallelStep
from halfwise.evaluators.device import use_device
from halfwise.evaluators.prepared import Prepared, prepare
from halfwise.evaluators.proven_step import compile_proven
from halfwise.evaluators.step import TrainStep
from halfwise.evaluators.training import as_tensors
from halfwise.evaluators.workload import Batch
from halfwise.policies import parse_policy
from halfwise.policies.rewrite import make_scaler

STEPS = 8


def trained(policy: str, rank: int, processes: int, make_step: type[TrainStep]) -> dict[str, Any]:
    """Losses, and a digest of the weights, after some steps on every `processes`-th row of each batch."""
    asked, workload = parse_policy(policy), make_tiny()
    prepared = prepare(workload, asked, seed=1)
    optimizer = prepared.step.optimizer
    step = make_step(prepared.network, workload.loss(), optimizer, make_scaler(asked.loss_scaling), 1)
    step.set_train()
    whole = Prepared(prepared.network, step, prepared.assignments)
    with tempfile.TemporaryDirectory() as folder:
        proven = compile_proven(whole, workload, asked, Path(folder))
    batches = workload.batches(seed=1)
    losses = [float(step(*as_tensors(part(next(batches), rank, processes)))[0].asnumpy()) for _ in range(STEPS)]
    weights = b"".join(parameter.asnumpy().tobytes() for parameter in prepared.network.trainable_params())
    table = proven.table
    forward = table[table["direction"] == "forward"]
    return {
        "rank": rank,
        "losses": losses,
        "weights": hashlib.sha256(weights).hexdigest(),
        "hash": proven.evidence.asked_hash,
        "mismatches": proven.evidence.mismatches,
        "forward": forward[["layer", "op", "compute_precision"]].fillna("").to_numpy().tolist(),
        "reduced_in": sorted(set(table[table["op"] == "AllReduce"]["output_precision"])),
    }


def part(batch: Batch, rank: int, processes: int) -> Batch:
    """Every `processes`-th row, from `rank` on."""
    inputs, labels = (tuple(np.ascontiguousarray(array[rank::processes]) for array in arrays) for arrays in batch)
    return Batch(inputs, labels)


def alone(policy: str) -> dict[str, Any]:
    """The same by one process, on whole batches."""
    use_device("CPU", "graph")
    return trained(policy, 0, 1, TrainStep)


def main(policy: str, folder: str) -> None:
    """What each process does under msrun."""
    from mindspore.communication import get_group_size, get_rank, init

    use_device("CPU", "graph")
    init()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, device_num=get_group_size())
    found = trained(policy, get_rank(), get_group_size(), DataParallelStep)
    (Path(folder) / f"{get_rank()}.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
