"""Measures a policy's speed against a float32 twin, from a process that runs no op itself."""

import os
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from ..process import Failure, Limits, RunningJob, start_job
from .comparison import Comparison, Round, compare
from .twin_request import Done, SpeedRequest, TwinRequest

LEAD_JOB = "halfwise.evaluators.speed.twin:lead"
FOLLOW_JOB = "halfwise.evaluators.speed.twin:follow"


def measure_speed(request: SpeedRequest, limits: Limits) -> Comparison | Failure:
    """The policy's speed over float32's with its interval, or why it could not be measured.

    All rounds are run, however soon the ratio looks known: to stop at a lucky narrow interval would make it too
    narrow. `limits` hold for each process.
    """
    rounds: list[Round] = []
    for number in range(request.rounds):
        found = _round(request, number, limits)
        if isinstance(found, Failure):
            return found
        rounds.append(found)
    return compare(rounds, request.target)


def _round(request: SpeedRequest, number: int, limits: Limits) -> Round | Failure:
    """Both sides run at the same time and compute in turn; if one ends early, so does the other."""
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        meeting = Path(folder)
        for name in ("orders", "answers"):
            os.mkfifo(meeting / name)
        asked = TwinRequest(**request.model_dump(), round=number, meeting=meeting)
        twin = asked.model_copy(update={"folder": request.folder / "float32"})
        leads, follows = (asked, twin) if asked.policy_leads else (twin, asked)
        return _both(start_job(LEAD_JOB, leads, Round, limits), start_job(FOLLOW_JOB, follows, Done, limits))


def _both(leader: RunningJob[Round], follower: RunningJob[Done]) -> Round | Failure:
    """The leader's result; a side that is left alone would wait for the other for ever, so it is ended."""
    with ThreadPoolExecutor(2) as pool:
        leading, following = pool.submit(leader.result), pool.submit(follower.result)
        sides: list[Future[Any]] = [leading, following]
        try:
            wait(sides, return_when=FIRST_COMPLETED)
        except BaseException:
            # Ctrl-C: the pool waits for both when it is left.
            leader.end()
            follower.end()
            raise
        if following.done() and isinstance(failure := following.result(), Failure) and not leading.done():
            leader.end()
            return failure
        found = leading.result()
        if isinstance(found, Failure):
            follower.end()
        return found
