"""The candidates of a ladder: the best policies for a range of weightings of time against harm, solved exactly."""

from math import prod

import numpy as np

from ...policies.errors import InputError
from .additive_loss import Features
from .arrays import Floats, Ints
from .cost_model import CostModel
from .elimination import Elimination

# Spaces of up to this many policies are taken whole.
_SMALL = 4096
# What all of float32's time is worth, in shares of everything low's loss; and what a hazard's log-chance is.
_TIME_WORTH = np.geomspace(0.02, 100, 40)
_CAUTIONS = (0.0, 0.1, 1.0)


class Rungs:
    """Solves one cost model under changing beliefs; the order of the solution is worked out once."""

    def __init__(self, costs: CostModel, features: Features) -> None:
        """`features` are those of the cost model.

        Raises:
            InputError: too many sites border on each other for an exact solution.
        """
        self._costs = costs
        self._features = features
        self._solver = Elimination(costs.sizes, tuple((border.first, border.second) for border in costs.borders))
        self._everything = _all_choices(costs.sizes) if prod(costs.sizes) <= _SMALL else None
        if self._everything is None and not self._solver.feasible:
            raise InputError(
                f"the ladder cannot solve this network exactly: too many of its {len(costs.sites)} sites pass "
                "values to each other; take sampler tpe, or tie repeated blocks (`tie: blocks`)"
            )
        worth, caution = np.meshgrid(_TIME_WORTH, _CAUTIONS, indexing="ij")
        self._worth = worth.ravel() / costs.step_time_s(costs.float32)
        self._caution = caution.ravel()

    def candidates(self, weights: Floats, chance: Floats, worst_lost: float) -> Ints:
        """(n, sites) choices: all there are in a small space, else the exact best of each weighting.

        `weights` are the quality lost by column, `chance` is that of columns to be hazards, `worst_lost` the loss
        that counts as everything.
        """
        if self._everything is not None:
            return self._everything
        harm = np.zeros((len(self._worth), len(chance))) + weights[: len(chance)]
        harm -= self._caution[:, None] * worst_lost * np.log1p(-chance)
        worth = self._worth[:, None] * worst_lost
        found = self._solver.minimise(self._site_costs(harm, worth), self._border_costs(weights, worth))
        return np.unique(found, axis=0)

    def around(self, choices: Ints) -> Ints:
        """All that differ from one of the given choices in one site."""
        flips = [(site, choice) for site, size in enumerate(self._costs.sizes) for choice in range(size)]
        changed = np.repeat(choices, len(flips), axis=0)
        sites, places = np.array(flips * len(choices)).T
        changed[np.arange(len(changed)), sites] = places
        return np.unique(changed, axis=0)

    def _site_costs(self, harm: Floats, worth: Floats) -> list[Floats]:
        costs = [worth * np.array(site.seconds) for site in self._costs.sites]
        for column, (site, choice) in enumerate(self._features.columns):
            costs[site][:, choice] += harm[:, column]
        return costs

    def _border_costs(self, weights: Floats, worth: Floats) -> list[Floats]:
        costs: list[Floats] = []
        for border, weight in zip(self._costs.borders, weights[self._features.single :], strict=True):
            seconds = np.array(border.seconds)
            both = np.zeros_like(seconds)
            both[1:, 1:] = weight
            costs.append(worth[:, :, None] * seconds + both)
        return costs


def _all_choices(sizes: tuple[int, ...]) -> Ints:
    return np.indices(sizes).reshape(len(sizes), -1).T.astype(np.int64)
