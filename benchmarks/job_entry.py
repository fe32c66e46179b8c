"""Jobs that say when they were entered, and when the first training step was finished."""

import time

from halfwise.evaluators.device import use_device
from halfwise.evaluators.request import Request
from halfwise.evaluators.training import as_tensors

# Imported although `enter` does not need it: a trial's process has it when its workload is built.
from halfwise.evaluators.prepared import prepare
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import parse_policy

from .jobs import Entry, FirstStep, StepsRequest


def enter(_: Request) -> Entry:
    """Nothing but the time."""
    return Entry(entered_s=time.monotonic())


def first_step(request: StepsRequest) -> FirstStep:
    """Build, compile and run one step, as a trial does."""
    entered = time.monotonic()
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode)
    workload = load_workload(request.reference, None)
    step = prepare(workload, policy, seed=1).step
    tensors = as_tensors(next(workload.batches(1)))
    built = time.monotonic()
    step.compile(*tensors)
    compiled = time.monotonic()
    step(*tensors)[0].asnumpy()
    return FirstStep(entered_s=entered, built_s=built, compiled_s=compiled, stepped_s=time.monotonic())
