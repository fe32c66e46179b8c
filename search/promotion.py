"""Which trials are worth training longer: multi-objective promotion from one length of training to the next.

After MO-ASHA (Schmucker, Donini, Zafar, Salinas and Archambeau, Multi-objective asynchronous successive halving,
2021): the trained ones of a length are ranked by non-dominated sorting, and within one front by an epsilon-net,
which spreads the places over the front. Whoever is among the best goes on at once, without waiting for others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

# Each length is this many times the one before, and one in so many goes on to it: all lengths cost alike.
FACTOR = 3


@dataclass(frozen=True, slots=True)
class Contender:
    """A trial that trained at some length: its speed, and its quality lost against float32 trained as long."""

    number: int
    speed: float
    quality_lost: float


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What contenders are held against.

    Those that are no faster than `float32_speed` never go on. Losses up to `noise` count as none. `allowed` is
    what the policy that is looked for may lose. Losses are in the metric's unit, positive is worse.
    """

    float32_speed: float
    noise: float
    allowed: float

    def ranked(self, contenders: Sequence[Contender]) -> tuple[Contender, ...]:
        """Those faster than float32, the most worth training longer first.

        Of a front the first is the fastest that loses no more than allowed, which would be chosen now, or else the
        one that loses least; then always the one farthest from those before it. Of equals the earlier trial.
        """
        left = [each for each in contenders if each.speed > self.float32_speed]
        ranked: list[Contender] = []
        while left:
            front = [one for one in left if not any(self.dominates(other, one) for other in left)]
            ranked += self._spread(sorted(front, key=lambda each: each.number))
            left = [each for each in left if each not in front]
        return tuple(ranked)

    def dominates(self, one: Contender, other: Contender) -> bool:
        """Whether the one is no worse in both figures and better in one, noise left out."""
        lost, theirs = self._lost(one), self._lost(other)
        no_worse = one.speed >= other.speed and lost <= theirs
        return no_worse and (one.speed > other.speed or lost < theirs)

    def next_up(self, contenders: Sequence[Contender], gone_on: Collection[int]) -> Contender | None:
        """The first of the best share that has not gone on yet; None while nobody may."""
        best = self.ranked(contenders)[: places(len(contenders))]
        return next((each for each in best if each.number not in gone_on), None)

    def hopeless(self, contenders: Sequence[Contender], planned: int) -> frozenset[int]:
        """The trials that cannot go on any more, whatever the rest of `planned` trials come to.

        Whoever dominates a trial is ranked before it for good: with as many of these as there will be places it is
        out. So are those that are no faster than float32.
        """
        seats = places(max(planned, len(contenders)))
        faster = [each for each in contenders if each.speed > self.float32_speed]
        beaten = {one.number for one in faster if sum(self.dominates(other, one) for other in faster) >= seats}
        return frozenset(beaten | {each.number for each in contenders if each not in faster})

    def _lost(self, contender: Contender) -> float:
        return max(contender.quality_lost, self.noise)

    def _spread(self, front: list[Contender]) -> list[Contender]:
        chosen = [max(front, key=self._worth)]
        while len(chosen) < len(front):
            left = [each for each in front if each not in chosen]
            chosen.append(max(left, key=lambda each: min(self._distance(each, other, front) for other in chosen)))
        return chosen

    def _worth(self, contender: Contender) -> tuple[bool, float]:
        within = self._lost(contender) <= max(self.allowed, self.noise)
        return within, contender.speed if within else -contender.quality_lost

    def _distance(self, one: Contender, other: Contender, front: Sequence[Contender]) -> float:
        """In shares of what the front spans."""
        speeds, losses = [each.speed for each in front], [self._lost(each) for each in front]
        apart = (
            abs(one.speed - other.speed) / ((max(speeds) - min(speeds)) or 1.0),
            abs(self._lost(one) - self._lost(other)) / ((max(losses) - min(losses)) or 1.0),
        )
        return apart[0] ** 2 + apart[1] ** 2


def lengths_of(first: int, rungs: int, full: int) -> tuple[int, ...]:
    """The lengths of training in steps: each `FACTOR` times the one before, none beyond the whole, `full`."""
    lengths = [first]
    while len(lengths) < rungs and lengths[-1] < full:
        lengths.append(min(lengths[-1] * FACTOR, full))
    return tuple(lengths)


def places(trained: int) -> int:
    """How many of so many trained ones go on."""
    return trained // FACTOR
