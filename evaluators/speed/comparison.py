"""What a speed measurement comes to: a ratio to float32 with an interval, in wall time and in CPU time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..outcome import Finite

# A ratio counts as known when its interval reaches no further than this from it, up or down.
CPU_PRECISION = 0.05
ACCELERATOR_PRECISION = 0.02


class Block(NamedTuple):
    """One block of training steps: seconds of wall time and of process CPU time, and applied updates.

    `waiting_s` is the part of the wall time that was spent waiting for data.
    """

    wall_s: float
    cpu_s: float
    waiting_s: float
    applied: int


class Pair(NamedTuple):
    """A block under the policy and one in float32 beside it, of the same number of steps."""

    policy: Block
    float32: Block


class Ratio(BaseModel):
    """Speed over float32's: above 1 the policy is faster. `low` and `high` bound it with 95% confidence."""

    model_config = ConfigDict(frozen=True)

    median: Finite
    low: Finite
    high: Finite

    def within(self, precision: float) -> bool:
        """Whether the interval reaches no further than `precision`, relative to the median."""
        return max(self.high - self.median, self.median - self.low) <= precision * self.median


class Comparison(BaseModel):
    """A policy's measured speed against its float32 twin on one device.

    `judged` is the ratio to go by: process CPU time on a CPU, where wall time says more about the neighbours,
    wall time elsewhere. `conclusive` is False when it could not be narrowed enough in its budget.
    """

    model_config = ConfigDict(frozen=True)

    device: str
    wall: Ratio
    cpu: Ratio
    pairs: int
    steps_per_block: int
    waiting_share: Finite
    conclusive: bool

    @property
    def judged(self) -> Ratio:
        """The ratio to go by on this device."""
        return self.cpu if self.device == "CPU" else self.wall

    @property
    def faster(self) -> bool:
        """Whether the whole interval lies above float32's speed."""
        return self.judged.low > 1

    def __str__(self) -> str:
        """In a user's words: "1.32x float32's speed (1.27 to 1.38), measured on CPU by CPU time"."""
        clock = "CPU time" if self.device == "CPU" else "wall time"
        ratio = self.judged
        words = f"{ratio.median:.2f}x float32's speed ({ratio.low:.2f} to {ratio.high:.2f})"
        return f"{'' if self.conclusive else 'inconclusive: '}{words}, measured on {self.device} by {clock}"


def compare(pairs: Sequence[Pair], device: str, steps_per_block: int, seed: int = 0) -> Comparison:
    """Ratios of paired blocks, counting applied updates only; needs at least two pairs with an update in each.

    The interval is the percentile bootstrap of the median over pairs (Efron and Tibshirani, 1993).
    """
    wall = _ratio([_speed(p.policy, 0) / _speed(p.float32, 0) for p in pairs], seed)
    cpu = _ratio([_speed(p.policy, 1) / _speed(p.float32, 1) for p in pairs], seed)
    judged, precision = (cpu, CPU_PRECISION) if device == "CPU" else (wall, ACCELERATOR_PRECISION)
    return Comparison(
        device=device,
        wall=wall,
        cpu=cpu,
        pairs=len(pairs),
        steps_per_block=steps_per_block,
        waiting_share=sum(p.policy.waiting_s for p in pairs) / sum(p.policy.wall_s for p in pairs),
        conclusive=judged.within(precision),
    )


def _speed(block: Block, clock: int) -> float:
    return block.applied / block[clock]


def _ratio(values: Sequence[float], seed: int) -> Ratio:
    # Imported here: whoever only reads a comparison back should not wait for it.
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.asarray(values),), np.median, n_resamples=2000, method="percentile", rng=np.random.default_rng(seed)
    )
    interval = found.confidence_interval
    return Ratio(median=float(np.median(values)), low=float(interval.low), high=float(interval.high))
