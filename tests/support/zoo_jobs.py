"""Builds zoo networks in fresh processes; every function takes and returns plain data."""

import hashlib
from typing import Any

import mindspore as ms
import numpy as np

from benchmarks.search.zoo.references import ROOT
from halfwise.evaluators.device import use_device
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies.rewrite import read_outline


def build(references: list[str]) -> list[dict[str, Any]]:
    """Each network's paths, its weights' and data's digests, and its truth as the workload tells it."""
    use_device("CPU", "graph")
    return [_built(reference) for reference in references]


def _built(reference: str) -> dict[str, Any]:
    workload = load_workload(reference, ROOT)
    ms.set_seed(1)
    network = workload.network()
    batch = workload.sample_batch()
    return {
        "paths": [cell.path for cell in read_outline(network).cells],
        "weights": _digest([parameter.asnumpy() for parameter in network.get_parameters()]),
        "data": _digest([*batch.inputs, *batch.labels]),
        "inputs": [list(array.shape) for array in batch.inputs],
        "labels": [list(array.shape) for array in batch.labels],
    }


def _digest(arrays: list[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
