"""When a search is over before its budget is: nothing could add to the front, or nothing changes any more."""

from collections.abc import Sequence
from dataclasses import dataclass

from .front import Point
from .noisy_front import Resolution
from .propose.additive_loss import Features
from .propose.bound import shown_to_fail
from .propose.cost_model import Choices, CostModel
from .propose.proposer import Tried
from .propose.targets import Targets

# A belief that moved by less has not changed.
BELIEF_MOVED = 0.05


@dataclass(frozen=True, slots=True)
class Settled:
    """The policy to which nothing can be added: it loses no more than noise, and no other one is faster.

    `everything`: nothing was shown to fail, so it is the fastest policy of all.
    """

    choices: Choices
    everything: bool


def settled(costs: CostModel, tried: Sequence[Tried], noise: float, max_quality_lost: float) -> Settled | None:
    """The policy that no other one can improve on, if there is one among the trials.

    It lost no more than `noise`, so that none is better in quality beyond noise, and every policy that is priced
    faster was shown to fail (see `bound`). Losses are in the metric's unit.
    """
    lossless = [each for each in tried if each.quality_lost is not None and each.quality_lost <= noise]
    if not lossless:
        return None
    best = max(lossless, key=lambda each: costs.speedup(each.choices))
    pairs = tuple((border.first, border.second) for border in costs.borders)
    too_much = (each for each in tried if not each.pending and not _is_allowed(each, max_quality_lost))
    failed = shown_to_fail(too_much)
    fastest = Targets(costs, Features(costs.sizes, pairs), failed).fastest()
    # An integer program is exact up to rounding.
    beaten = fastest is not None and costs.speedup(fastest) > costs.speedup(best.choices) * (1 + 1e-9)
    return None if beaten or best.choices == costs.float32 else Settled(best.choices, not failed)


def _is_allowed(trial: Tried, max_quality_lost: float) -> bool:
    return trial.quality_lost is not None and trial.quality_lost <= max_quality_lost


def front_moved(before: Sequence[Point], after: Sequence[Point], resolution: Resolution) -> bool:
    """Whether a front gained a point that, beyond noise, none of its points before was as good as in both figures.

    A point that left the front, and one that took the place of an equal one, are no change.
    """
    return any(all(_adds(new, old, resolution) for old in before) for new in after)


def _adds(new: Point, old: Point, resolution: Resolution) -> bool:
    return resolution.slower(old, new) or resolution.better(new, old)
