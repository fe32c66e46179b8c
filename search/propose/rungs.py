"""The candidates of a ladder: the best policies for a range of weightings of time against harm, solved exactly."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from .additive_loss import Features
from .arrays import Floats, Ints
from .cost_model import Choices, CostModel
from .elimination import Elimination
from .integer_program import IntegerProgram
from .replayed import halving
from .solver import Graph, Solver

# Spaces of up to this many policies are taken whole.
_SMALL = 4096
# What all of float32's time is worth, in shares of everything low's loss; and what a hazard's log-chance is.
_WORTHS = np.geomspace(0.02, 100, 40)
_CAUTIONS = (0.0, 0.1, 1.0)
# Up to so many entries in the tables of one elimination all weightings are solved for each proposal.
_LIGHT = 200_000
# Beyond, an integer program solves some of them in turn: as many as have so many products together, and so many at
# least. It ends after some branchings: what is found by then is good, if not proven best.
_PRODUCTS, _LEAST, _NODES = 12_000, 2, 20
# Neighbours of rungs are looked at in batches of about so many.
_BATCH = 4096
# Speeds that differ by less than rounding are equal.
_FASTER = 1 + 1e-9


class Rungs:
    """Solves one cost model under changing beliefs; how is worked out once."""

    def __init__(self, costs: CostModel, features: Features) -> None:
        """`features` are those of the cost model."""
        self._costs = costs
        self._features = features
        self._graph = Graph(costs)
        self._everything = _all_choices(costs) if prod(costs.sizes) <= _SMALL else None
        worth, caution = np.meshgrid(_WORTHS, _CAUTIONS, indexing="ij")
        self._worth = worth.ravel() / costs.step_time_s(costs.float32)
        self._caution = caution.ravel()
        elimination = Elimination(self._graph.sizes, self._graph.pairs)
        self._solver: Solver = elimination
        self._at_once = len(self._worth)
        if elimination.entries > _LIGHT:
            program = IntegerProgram(self._graph.sizes, self._graph.pairs, _NODES)
            self._solver = program
            self._at_once = min(max(_PRODUCTS // program.width, _LEAST), self._at_once)

    def candidates(self, weights: Floats, chance: Floats, worst_lost: float, turn: int = 0) -> Ints:
        """(n, sites) choices: all there are in a small space, else the exact best of each weighting.

        In a dense network, where elimination's tables would be too large, each `turn` takes other ones of the
        weightings, so that a proposal takes less than a second. `weights` are the quality lost by column, `chance`
        is that of columns to be hazards, `worst_lost` the loss that counts as everything.
        """
        if self._everything is not None:
            return self._everything
        chosen = self._weightings(turn)
        harm = np.zeros((len(chosen), len(chance))) + weights[: len(chance)]
        harm -= self._caution[chosen, None] * worst_lost * np.log1p(-chance)
        worth = self._worth[chosen, None] * worst_lost
        found = self._solver.minimise(
            self._graph.site_costs(self._site_costs(harm, worth)),
            self._graph.pair_costs(self._border_costs(weights, worth), len(worth)),
        )
        return _different(found[:, : len(self._costs.sites)])

    def untried(self, rungs: Ints, tried: Sequence[Choices]) -> Ints:
        """Those of the rungs that were not tried and are faster than float32; else neighbours of theirs that are.

        Neighbours differ in one site. Rungs are taken apart in the order that spreads them, until some are found;
        (0, sites) where none is left.
        """
        seen = set(tried)
        found = self._new(rungs, seen)
        for batch in self._batches(rungs):
            if len(found):
                break
            found = self._new(self.around(batch), seen)
        return found

    def around(self, choices: Ints) -> Ints:
        """All that differ from one of the given choices in one site."""
        flips = [(site, choice) for site, size in enumerate(self._costs.sizes) for choice in range(size)]
        changed = np.repeat(choices, len(flips), axis=0)
        sites, places = np.array(flips * len(choices)).T
        changed[np.arange(len(changed)), sites] = places
        return _different(changed)

    def _weightings(self, turn: int) -> Ints:
        """Those of a turn, evenly spread; equal steps lead through all of them."""
        every = len(self._worth)
        return np.unique((turn + np.arange(self._at_once) * every // self._at_once) % every)

    def _batches(self, rungs: Ints) -> Iterator[Ints]:
        count = max(_BATCH // max(sum(self._costs.sizes), 1), 1)
        order = [0, *halving(len(rungs) - 1)]
        return (rungs[order[at : at + count]] for at in range(0, len(order), count))

    def _new(self, choices: Ints, seen: set[Choices]) -> Ints:
        faster = choices[(self._costs.speedups(choices) > _FASTER) & self._costs.allowed(choices)]
        new = [row not in seen for row in map(tuple, faster.tolist())]
        return faster[np.array(new, dtype=bool)]

    def _site_costs(self, harm: Floats, worth: Floats) -> list[Floats]:
        costs = worth[:, :, None] * self._costs.tables.sites
        columns = np.array(self._features.columns, dtype=np.int64).reshape(-1, 2)
        costs[:, columns[:, 0], columns[:, 1]] += harm
        return [costs[:, site, :size] for site, size in enumerate(self._costs.sizes)]

    def _border_costs(self, weights: Floats, worth: Floats) -> list[Floats]:
        costs = worth[:, :, None, None] * self._costs.tables.borders
        costs[:, :, 1:, 1:] += weights[self._features.single :, None, None]
        return [
            costs[:, border, : self._costs.sizes[a], : self._costs.sizes[b]]
            for border, (a, b) in enumerate(self._features.pairs.tolist())
        ]


def _different(choices: Ints) -> Ints:
    """Each of the rows once, in the order of their bytes."""
    rows = {row.tobytes() for row in choices.astype(np.uint8)}
    return np.frombuffer(b"".join(sorted(rows)), dtype=np.uint8).reshape(-1, choices.shape[1]).astype(np.int64)


def _all_choices(costs: CostModel) -> Ints:
    every = np.indices(costs.sizes).reshape(len(costs.sizes), -1).T.astype(np.int64)
    return every[costs.allowed(every)]
