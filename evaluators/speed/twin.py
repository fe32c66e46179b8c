"""Two processes, one under the policy and one in float32, that train in turn: one of them leads.

They talk through two named pipes in a common folder: the leader writes a number of steps, the follower answers
with what its block took; 0 ends it. Neither runs while the other is timed.
"""

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ...policies import parse_policy
from ..device import use_device
from ..float32 import float32_policy
from ..prepared import prepare
from ..step import TrainStep
from ..training import as_tensors
from ..workload import Batch
from ..workload_reference import load_workload
from .comparison import Block, Pair, Round
from .twin_request import Done, TwinRequest

ORDERS, ANSWERS = "orders", "answers"
WARM_UP_STEPS = 5
# A block must be long against the clocks' resolution and short against the drift of a shared machine.
BLOCK_S = 0.05
# However short the budget is: the median of three blocks does without the worst one.
MIN_PAIRS = 3


class _Side:
    """One network in training, run block by block."""

    def __init__(self, request: TwinRequest, policy: str) -> None:
        asked = parse_policy(policy)
        use_device(request.target, asked.mode, request.device_id)
        workload = load_workload(request.workload, request.search_path)
        self.step: TrainStep = prepare(workload, asked, request.seed).step
        self.batches: Iterator[Batch] = workload.batches(request.seed)
        self.block(WARM_UP_STEPS)

    def block(self, steps: int) -> Block:
        applied, waiting = 0, 0.0
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(steps):
            asked = time.perf_counter()
            tensors = as_tensors(next(self.batches))
            waiting += time.perf_counter() - asked
            applied += bool(self.step(*tensors)[1].asnumpy())
        return Block(time.perf_counter() - wall, time.process_time() - cpu, waiting, applied)


def lead(request: TwinRequest) -> Round:
    """One side: warm up, choose the length of a block, alternate for this round's part of the budget.

    Raises:
        ValueError: a side applied no update, so there is no speed to speak of.
    """
    side = _side(request, request.policy_leads)
    with _pipe(request.meeting / ORDERS, "w") as orders, _pipe(request.meeting / ANSWERS, "r") as answers:
        steps = max(2, round(BLOCK_S / (side.block(WARM_UP_STEPS).wall_s / WARM_UP_STEPS)))
        try:
            return _alternate(side, steps, request, orders, answers)
        finally:
            _write(orders, "0")


def follow(request: TwinRequest) -> Done:
    """The other side: run a block whenever the leader asks for one."""
    side = _side(request, not request.policy_leads)
    blocks = 0
    with _pipe(request.meeting / ORDERS, "r") as orders, _pipe(request.meeting / ANSWERS, "w") as answers:
        while steps := int(orders.readline() or 0):
            block = side.block(steps)
            _write(answers, " ".join(map(repr, block)))
            blocks += 1
    return Done(blocks=blocks)


def _side(request: TwinRequest, of_policy: bool) -> _Side:
    return _Side(request, request.policy if of_policy else str(float32_policy(parse_policy(request.policy))))


def _alternate(side: _Side, steps: int, request: TwinRequest, orders: IO[str], answers: IO[str]) -> Round:
    order = random.Random(f"{request.seed} {request.round}")
    # Not counted: the leader has just run to find the length of a block, and the other side is cold.
    _pair(side, steps, True, orders, answers)
    deadline = time.monotonic() + request.budget_s / request.rounds
    pairs: list[Pair] = []
    while len(pairs) < MIN_PAIRS or time.monotonic() < deadline:
        own, other = _pair(side, steps, order.random() < 0.5, orders, answers)
        pairs.append(Pair(own, other) if request.policy_leads else Pair(other, own))
    found = Round(pairs=tuple(pairs))
    found.require_updates()
    return found


def _pair(side: _Side, steps: int, own_first: bool, orders: IO[str], answers: IO[str]) -> tuple[Block, Block]:
    """A block of this side, and one of the other."""
    # In random order: whatever slows down the second of two would bend the ratio otherwise.
    own = side.block(steps) if own_first else None
    _write(orders, str(steps))
    wall, cpu, waiting, applied = answers.readline().split()
    other = Block(float(wall), float(cpu), float(waiting), int(applied))
    return own or side.block(steps), other


def _pipe(path: Path, mode: str) -> IO[str]:
    return os.fdopen(os.open(path, os.O_WRONLY if mode == "w" else os.O_RDONLY), mode, encoding="utf-8")


def _write(pipe: IO[str], line: str) -> None:
    pipe.write(f"{line}\n")
    pipe.flush()
