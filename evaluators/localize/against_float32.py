"""Compares one training step of a policy with float32's: two processes, whose values are read and deleted."""

import shutil

from ...policies import Policy, parse_policy
from ..process import Failure, Limits, run_job
from .compare import Compared, compare
from .values import STEP_JOB, StepRequest, StepValues

STEPS_COMPARED = 2
"""What a comparison costs in training steps: one under the policy, one in float32."""


def against_float32(request: StepRequest, limits: Limits) -> Compared | Failure:
    """Run the step under the request's policy, and again in float32 from the same weights; compare op by op.

    Costs `STEPS_COMPARED` steps and two compilations. Of
    the values nothing is left in the request's folder.
    """
    policy = parse_policy(request.policy)
    float32 = Policy(default="float32", loss_scaling=policy.loss_scaling)
    mine, twin = (
        request.model_copy(update={"folder": request.folder / name, "policy": str(asked)})
        for name, asked in (("policy", policy), ("float32", float32))
    )
    try:
        low = run_job(STEP_JOB, mine, StepValues, limits)
        if isinstance(low, Failure):
            return low
        full = run_job(STEP_JOB, twin, StepValues, limits)
        return full if isinstance(full, Failure) else compare(low, full, policy.low_precision)
    finally:
        # Every value of a step, twice: too large to be left behind, whatever came of it.
        shutil.rmtree(mine.folder, ignore_errors=True)
        shutil.rmtree(twin.folder, ignore_errors=True)
