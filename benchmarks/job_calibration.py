"""A job that compiles a workload's step, proves it, lists its kernels, and times step after step."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false

import shutil
import time
from pathlib import Path

import mindspore as ms
import numpy as np

from halfwise.evaluators.device import use_device
from halfwise.evaluators.evidence import (
    mark_layers,
    prove,
    read_kernel_table,
    read_op_table,
    remove_marks,
)
from halfwise.evaluators.graph_dump import dumped_graphs
from halfwise.evaluators.prepared import Prepared, prepare
from halfwise.evaluators.training import as_tensors
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import Policy, parse_policy
from halfwise.policies.errors import HalfwiseError
from halfwise.policies.rewrite import read_outline

from .timed_steps import KERNELS, StepRequest, TimedSteps

SEED = 1
WARM_UP_STEPS = 15
STEPS = 50
# Steps of a millisecond or two need more of them before one in ten was left alone.
LEAST_S = 1.0


def time_steps(request: StepRequest) -> TimedSteps:
    """Process CPU time of each step after a warm-up; the kernel table is left behind if it is asked for.

    Raises:
        HalfwiseError: MindSpore does not make of the policy what it asks, or an update was skipped: a step
            without its update is not the step that is priced.
    """
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode)
    workload = load_workload(request.workload, request.search_path)
    prepared = prepare(workload, policy, SEED)
    batches = map(as_tensors, workload.batches(SEED))
    if request.list_kernels:
        _prove_and_list(prepared, policy, as_tensors(workload.sample_batch()), request.folder)
    cpu_s: list[float] = []
    while len(cpu_s) < WARM_UP_STEPS + STEPS or sum(cpu_s) < LEAST_S:
        tensors = next(batches)
        before = time.process_time()
        _, finite, _ = (value.asnumpy() for value in prepared.step(*tensors))
        cpu_s.append(time.process_time() - before)
        if len(cpu_s) > WARM_UP_STEPS and not finite:
            raise HalfwiseError(f"step {len(cpu_s)} was skipped: its gradients are not finite")
    # One step in ten is shorter: what others take longer is other processes' doing.
    return TimedSteps(step_cpu_s=float(np.quantile(cpu_s[WARM_UP_STEPS:], 0.1)))


def _prove_and_list(prepared: Prepared, policy: Policy, batch: list[ms.Tensor], folder: Path) -> None:
    dump = folder / "graphs"
    mark_layers(prepared.network, dump)
    with dumped_graphs(dump):
        prepared.step.compile(*batch)
    proof = prove(read_op_table(dump, read_outline(prepared.network)), prepared.assignments, policy)
    kernels = read_kernel_table(dump)
    remove_marks(prepared.network)
    shutil.rmtree(dump)
    if proof.mismatched:
        raise HalfwiseError(f"{len(proof.mismatched)} ops do not compute in what the policy asks")
    kernels.to_pickle(folder / KERNELS)
