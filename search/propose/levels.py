"""The built-in levels, as far as they can be said in sites: everything float32, everything in one low precision.

O0 is float32 and O3 is everything low. O2 (normalisations stay float32), O1 and `auto` (lists of ops) speak of
kinds of layers and ops, which sites don't know: a search tries those as policies of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cost_model import Choices, CostModel, Site
from .proposer import Tried
from .replayed import Steps, replay


@dataclass(frozen=True)
class Levels:
    """Float32, then each low precision for all sites that offer it; a `Proposer`."""

    costs: CostModel

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices | None:
        """The next level that was not tried; None after the last."""
        return replay(self._steps(), tried)

    def _steps(self) -> Steps:
        yield self.costs.float32
        for precision in _low_precisions(self.costs.sites):
            yield tuple(_place(site, precision) for site in self.costs.sites)


def all_low(costs: CostModel) -> Choices:
    """Each site in the low precision in which its own ops take least time; float32 where it offers no other.

    Within a region all take the one that is fastest for most of its sites.
    """
    return costs.one_low(tuple(_fastest_low(site) for site in costs.sites))


def _fastest_low(site: Site) -> int:
    return min(site.low_places, key=site.seconds.__getitem__, default=0)


def _low_precisions(sites: Sequence[Site]) -> tuple[str, ...]:
    """In the order in which sites first offer them."""
    return tuple(dict.fromkeys(site.choices[place] for site in sites for place in site.low_places))


def _place(site: Site, precision: str) -> int:
    return site.choices.index(precision) if precision in site.choices else 0
