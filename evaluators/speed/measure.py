"""Measures a policy's speed against a float32 twin, from a process that runs no op itself."""

import os
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from ..process import Failure, Limits, RunningJob, start_job
from .comparison import Comparison
from .twin_request import Done, SpeedRequest, TwinRequest

LEAD_JOB = "halfwise.evaluators.speed.twin:lead"
FOLLOW_JOB = "halfwise.evaluators.speed.twin:follow"


def measure_speed(request: SpeedRequest, limits: Limits) -> Comparison | Failure:
    """The policy's speed over float32's with its interval, or why it could not be measured.

    Both sides run at the same time and compute in turn; if one ends early, so does the other.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        meeting = Path(folder)
        for name in ("orders", "answers"):
            os.mkfifo(meeting / name)
        asked = TwinRequest(**request.model_dump(), meeting=meeting)
        leader = start_job(LEAD_JOB, asked, Comparison, limits)
        twin = asked.model_copy(update={"folder": request.folder / "float32"})
        follower = start_job(FOLLOW_JOB, twin, Done, limits)
        return _both(leader, follower)


def _both(leader: RunningJob[Comparison], follower: RunningJob[Done]) -> Comparison | Failure:
    """The leader's result; a side that is left alone would wait for the other for ever, so it is ended."""
    with ThreadPoolExecutor(2) as pool:
        leading, following = pool.submit(leader.result), pool.submit(follower.result)
        sides: list[Future[Any]] = [leading, following]
        wait(sides, return_when=FIRST_COMPLETED)
        if following.done() and isinstance(failure := following.result(), Failure) and not leading.done():
            leader.end()
            return Failure(failure.cause, f"the float32 twin: {failure.message}", failure.input_error)
        found = leading.result()
        if isinstance(found, Failure):
            follower.end()
        return found
