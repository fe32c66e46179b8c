"""The searchers over sites, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .propose import CostModel, Proposer, Tried
from .propose.aimet import Aimet
from .propose.bisect import Bisect
from .propose.exhaustive import Exhaustive
from .propose.ladder import Ladder
from .propose.prior import Prior
from .propose.reinforce import Reinforce
from .words import unknown

PROPOSERS: Mapping[str, str] = MappingProxyType(
    {
        "ladder": "solves for the fastest policy that likely trains, and learns from failures; the default",
        "exhaustive": "every policy, the fastest first; for spaces of up to 4,096",
        "aimet": "one layer low at a time, then prefixes of the sorted list (AIMET)",
        "bisect": "halves how many layers, from the input or the output, stay float32 (Polygraphy)",
        "reinforce": "policy gradient with a baseline; for comparison, it takes hundreds of trials",
    }
)


@dataclass(frozen=True)
class Knowledge:
    """What is known before the first trial.

    `noise` is the standard deviation of one trial's quality lost, and `max_quality_lost` what may be lost, both in
    the metric's unit; `prior` holds the sites' chances of harm. `earlier` are trials of an earlier study of the
    same sites, their losses brought to this noise: they shape beliefs, and count for nothing else. `warm_start` is
    the study that prior or trials come from, if they come from one.
    """

    costs: CostModel
    noise: float
    max_quality_lost: float
    prior: Prior
    earlier: tuple[Tried, ...] = ()
    warm_start: str | None = None


def make_proposer(name: str, known: Knowledge, seed: int) -> Proposer:
    """The searcher of that name.

    Raises:
        InputError: there is none, or the space is too large for it.
    """
    if name not in _MAKERS:
        raise unknown("sampler", name, PROPOSERS)
    return _MAKERS[name](known, seed)


def _ladder(known: Knowledge, seed: int) -> Proposer:
    return Ladder(known.costs, known.noise, known.prior, seed, known.earlier)


def _exhaustive(known: Knowledge, _: int) -> Proposer:
    return Exhaustive(known.costs)


def _aimet(known: Knowledge, _: int) -> Proposer:
    return Aimet(known.costs, known.max_quality_lost)


def _bisect(known: Knowledge, _: int) -> Proposer:
    return Bisect(known.costs, known.max_quality_lost)


def _reinforce(known: Knowledge, _: int) -> Proposer:
    return Reinforce(known.costs)


_MAKERS: Mapping[str, Callable[[Knowledge, int], Proposer]] = MappingProxyType(
    {"ladder": _ladder, "exhaustive": _exhaustive, "aimet": _aimet, "bisect": _bisect, "reinforce": _reinforce}
)
