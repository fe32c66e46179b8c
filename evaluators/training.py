"""A short training: steps, their losses and times, and the named reasons why it may stop early."""

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import mindspore as ms
import numpy as np

from ..policies.errors import InputError
from .loss_band import BandWatch, LossBand
from .outcome import Outcome, StepTime
from .request import NEVER_MOVED
from .workload import Batch

# Dynamic scaling halves 65,536 down to 1 in 16 skips; whoever still skips after that never trains.
MAX_SKIPS_IN_A_ROW = 20
# The first steps fill caches and allocate; they are trained but not timed.
WARM_UP_STEPS = 3
MIN_TIMED_STEPS = 5
LEAST_STEPS = WARM_UP_STEPS + MIN_TIMED_STEPS


@dataclass
class Training:
    """What happened so far; `cause` is None while nothing is wrong. Times are those of this process only."""

    losses: list[float] = field(default_factory=list)
    loss_scales: list[float] = field(default_factory=list)
    applied: int = 0
    skipped: int = 0
    skips_in_a_row: int = 0
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    cause: str | None = None
    watch: BandWatch = field(default_factory=lambda: BandWatch(LossBand()))

    @classmethod
    def going_on(cls, earlier: Outcome, watch: BandWatch) -> Self:
        """What had happened when a training that was trained to its end was saved."""
        return cls(
            losses=[loss for loss in earlier.losses if loss is not None],
            loss_scales=list(earlier.loss_scales),
            applied=earlier.updates_applied,
            skipped=earlier.updates_skipped,
            watch=watch,
        )

    def record(self, loss: float, finite: bool, scale: float) -> None:
        """Take in one step and see whether the training should go on."""
        step = len(self.losses)
        self.losses.append(loss)
        self.loss_scales.append(scale)
        left = math.isfinite(loss) and self.watch.leaves(loss, self.applied)
        self.applied += finite
        self.skipped += not finite
        self.skips_in_a_row = 0 if finite else self.skips_in_a_row + 1
        if not math.isfinite(loss):
            self.cause = f"non-finite at step {step}"
        elif self.skips_in_a_row >= MAX_SKIPS_IN_A_ROW:
            self.cause = "no working loss scale"
        elif left and finite:
            self.cause = f"loss left float32's band at step {step}"

    @property
    def first_bad_step(self) -> int | None:
        """The step at which the loss went non-finite, or from which on every update was skipped."""
        return None if self.cause is None or self.skips_in_a_row == 0 else len(self.losses) - self.skips_in_a_row

    def finish(self) -> None:
        """Judge the whole: a loss that is the same at every step did not train."""
        if self.cause is None and len(self.losses) > 1 and len(set(self.losses)) == 1:
            self.cause = NEVER_MOVED

    def step_time(self) -> StepTime | None:
        """Medians over the steps after the warm-up; None when there were too few."""
        wall, cpu = self.wall_s[WARM_UP_STEPS:], self.cpu_s[WARM_UP_STEPS:]
        if len(wall) < MIN_TIMED_STEPS:
            return None
        return StepTime(wall_s=float(np.median(wall)), process_cpu_s=float(np.median(cpu)), steps_timed=len(wall))


def train(
    step: Callable[..., Any], batches: Iterator[Batch], steps: int, training: Training | None = None
) -> Training:
    """Call a training step up to `steps` times; stops early where the training has no future.

    That is at the first non-finite loss, when no update is applied, and when the loss leaves float32's band.
    `step` is called and answers as a `TrainStep` is; `training` is what happened before, if anything did.

    Raises:
        InputError: too few steps to time any, or batches of more than one shape.
    """
    training = training or Training()
    to_do = steps - len(training.losses)
    if to_do < LEAST_STEPS:
        raise InputError(
            f"a trial must be at least {LEAST_STEPS} steps long ({WARM_UP_STEPS} to warm up, {MIN_TIMED_STEPS} to "
            f"time), but got {to_do}"
        )
    shapes = None
    for batch in itertools.islice(batches, to_do):
        tensors = as_tensors(batch)
        shapes = _same_shapes(tensors, shapes)
        wall, cpu = time.perf_counter(), time.process_time()
        # Reading the loss waits for the step: a device may only have queued it.
        loss, finite, scale = (value.asnumpy().item() for value in step(*tensors))
        training.wall_s.append(time.perf_counter() - wall)
        training.cpu_s.append(time.process_time() - cpu)
        training.record(loss, finite, scale)
        if training.cause is not None:
            return training
    training.finish()
    return training


def _same_shapes(tensors: list[ms.Tensor], before: list[tuple[int, ...]] | None) -> list[tuple[int, ...]]:
    shapes = [tensor.shape for tensor in tensors]
    if before is not None and shapes != before:
        # A new shape would compile the step again in the middle of what is timed.
        raise InputError(
            f"batches must keep one shape, but after {before} came {shapes}; drop or pad the last one"
        )
    return shapes


def as_tensors(batch: Batch) -> list[ms.Tensor]:
    """The batch as the step takes it: the network's inputs, then the loss's labels; types as they are."""
    return [ms.Tensor(array) for array in (*batch.inputs, *batch.labels)]
