"""What a speed measurement comes to: a ratio to float32 with an interval, in wall time and in CPU time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..finite import Finite

# A ratio counts as known when its interval reaches no further than this from it, up or down.
CPU_PRECISION = 0.05
ACCELERATOR_PRECISION = 0.02
RESAMPLES = 2000


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


class Round(BaseModel):
    """What one pair of fresh processes measured, block by block in turn."""

    model_config = ConfigDict(frozen=True)

    pairs: tuple[Pair, ...]

    @property
    def applied(self) -> tuple[int, int]:
        """Updates applied under the policy and in float32."""
        return sum(pair.policy.applied for pair in self.pairs), sum(pair.float32.applied for pair in self.pairs)

    def require_updates(self) -> None:
        """Refuse a round in which a side did not train.

        Raises:
            ValueError: the policy or its float32 twin applied no update, so that it has no speed.
        """
        for side, applied in zip(("policy", "float32 twin"), self.applied, strict=True):
            if applied == 0:
                raise ValueError(f"no update was applied in a whole round of blocks: the {side} does not train")


class Ratio(BaseModel):
    """Speed over float32's: above 1 the policy is faster. `low` and `high` bound it with 95% confidence."""

    model_config = ConfigDict(frozen=True)

    median: Finite
    low: Finite
    high: Finite

    def within(self, precision: float) -> bool:
        """Whether the interval reaches no further than `precision`, relative to the median."""
        return max(self.high - self.median, self.median - self.low) <= precision * self.median

    def __str__(self) -> str:
        """Such as "1.32x float32's speed (1.27 to 1.38)"."""
        return f"{self.median:.2f}x float32's speed ({self.low:.2f} to {self.high:.2f})"


class Comparison(BaseModel):
    """A policy's measured speed against its float32 twin on one device.

    `judged` is the ratio to go by: process CPU time on a CPU, where wall time says more about the neighbours,
    wall time elsewhere. `conclusive` is False when it could not be narrowed enough in its budget. `rounds` are
    pairs of fresh processes, `pairs` the pairs of blocks in all of them; `waiting_share` is the part of the
    policy's wall time that was spent waiting for data.
    """

    model_config = ConfigDict(frozen=True)

    device: str
    wall: Ratio
    cpu: Ratio
    rounds: int
    pairs: int
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
        doubt = "" if self.conclusive else "inconclusive: "
        waiting = f"; {self.waiting_share:.0%} of the time went into waiting for data"
        return f"{doubt}{self.judged}, measured on {self.device} by {clock}{waiting}"


def compare(rounds: Sequence[Round], device: str, seed: int = 0) -> Comparison:
    """The ratio of each round is the median over its pairs; theirs is the median over the rounds.

    Only applied updates count: a pair's ratio of times is weighed with both sides' share of applied updates in
    its round. The interval is the percentile bootstrap over rounds and, within each, over pairs (the two-stage
    bootstrap of Davison and Hinkley, 1997, section 3.8): two processes differ by more than their blocks do, so
    that blocks alone would give too narrow an interval. A single round knows nothing of that difference.

    Raises:
        ValueError: no rounds, or a side that applied no update in a whole round.
    """
    if not rounds:
        raise ValueError("a comparison needs at least one round of blocks")
    for each in rounds:
        each.require_updates()
    generator = np.random.default_rng(seed)
    wall, cpu = (_ratio([_speeds(each, clock) for each in rounds], generator) for clock in (0, 1))
    judged, precision = (cpu, CPU_PRECISION) if device == "CPU" else (wall, ACCELERATOR_PRECISION)
    policy = [pair.policy for each in rounds for pair in each.pairs]
    return Comparison(
        device=device,
        wall=wall,
        cpu=cpu,
        rounds=len(rounds),
        pairs=len(policy),
        waiting_share=sum(block.waiting_s for block in policy) / sum(block.wall_s for block in policy),
        conclusive=judged.within(precision),
    )


def _speeds(each: Round, clock: int) -> np.ndarray[Any, Any]:
    """The pairs' ratios of speed in one round, by one clock."""
    policy, float32 = each.applied
    return np.array([pair.float32[clock] / pair.policy[clock] for pair in each.pairs]) * policy / float32


def _ratio(rounds: Sequence[np.ndarray[Any, Any]], generator: np.random.Generator) -> Ratio:
    chosen = generator.integers(len(rounds), size=(RESAMPLES, len(rounds)))
    medians = np.empty(chosen.shape)
    for number, ratios in enumerate(rounds):
        places = chosen == number
        blocks = generator.integers(len(ratios), size=(np.count_nonzero(places), len(ratios)))
        medians[places] = np.median(ratios[blocks], axis=1)
    low, high = np.quantile(np.median(medians, axis=1), (0.025, 0.975))
    return Ratio(median=float(np.median([np.median(ratios) for ratios in rounds])), low=low, high=high)
