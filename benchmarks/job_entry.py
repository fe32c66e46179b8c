"""Jobs that say when they were entered, and when the first training step was finished."""

import time

# Imported for its time alone: a trial's process has all of it behind it when its workload is built.
import halfwise.evaluators.trial  # noqa: F401
from halfwise.evaluators.device import use_device
from halfwise.evaluators.prepared import prepare
from halfwise.evaluators.proven_step import compile_proven
from halfwise.evaluators.request import Request
from halfwise.evaluators.training import as_tensors
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import parse_policy

from .jobs import Entry, FirstStep, StepsRequest


def enter(_: Request) -> Entry:
    """Nothing but the time."""
    return Entry(entered_s=time.monotonic())


def first_step(request: StepsRequest) -> FirstStep:
    """Build, compile and run one step, as a trial does."""
    entered_s = time.monotonic()
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode)
    workload = load_workload(request.reference, None)
    prepared = prepare(workload, policy, seed=1)
    built_s = time.monotonic()
    compile_proven(prepared, workload, policy, request.folder)
    compiled_s = time.monotonic()
    tensors = as_tensors(next(workload.batches(1)))
    prepared.step(*tensors)[0].asnumpy()
    return FirstStep(entered_s=entered_s, built_s=built_s, compiled_s=compiled_s, stepped_s=time.monotonic())
