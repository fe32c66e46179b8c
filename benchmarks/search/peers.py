"""Who takes part: halfwise's ladder, published procedures, and Optuna's samplers, all asked and told alike."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
import optuna
from optuna.samplers import BaseSampler, TPESampler

from halfwise.search.propose.aimet import Aimet
from halfwise.search.propose.bisect import Bisect
from halfwise.search.propose.cost_model import Choices, CostModel
from halfwise.search.propose.ladder import Ladder
from halfwise.search.propose.levels import Levels
from halfwise.search.propose.proposer import Proposer, Tried
from halfwise.search.propose.reinforce import Reinforce
from halfwise.search.samplers import make_sampler

from .problems import Problem


class Searcher(Protocol):
    """One search in progress."""

    def ask(self) -> Choices | None:
        """What to try next; None when it has nothing left."""
        ...

    def tell(self, trial: Tried) -> None:
        """What became of the choices last asked for."""
        ...


Peer = Callable[[Problem, int], Searcher]
"""Starts a search of a problem with a seed."""


class ProposerSearch:
    """A proposer with the history of its trials, which begins with what is known from the start."""

    def __init__(self, proposer: Proposer, seed: int, known: Sequence[Tried] = ()) -> None:
        self._proposer = proposer
        self._rng = np.random.default_rng(seed)
        self._tried = list(known)

    def ask(self) -> Choices | None:
        """The next proposal."""
        return self._proposer.propose(self._tried, self._rng)

    def tell(self, trial: Tried) -> None:
        """Add it to the history."""
        self._tried.append(trial)


class StudySearch:
    """An Optuna sampler in a study in memory: least quality lost, most speed, and whether it trains.

    As in a search by halfwise: each site is a categorical parameter, and a policy that does not train breaks a
    constraint. The sampler learns the speed of what it tried, and knows no price.
    """

    def __init__(self, sampler: BaseSampler, costs: CostModel) -> None:
        self._costs = costs
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)

    def ask(self) -> Choices:
        """The sampler's draw."""
        self._trial = self._study.ask()
        return self._costs.placed(
            {site.name: self._trial.suggest_categorical(site.name, site.choices) for site in self._costs.sites}
        )

    def tell(self, trial: Tried) -> None:
        """Values, and whether it trains."""
        lost = trial.quality_lost
        self._trial.set_constraint("trains", 1.0 if lost is None else 0.0)
        values = (0.0, 0.0) if lost is None else (lost, self._costs.speedup(trial.choices))
        self._study.tell(self._trial, values)


def _ladder(problem: Problem, seed: int) -> Searcher:
    return ProposerSearch(Ladder(problem.costs, problem.noise, problem.prior, seed), seed)


def _aimet(problem: Problem, seed: int) -> Searcher:
    return ProposerSearch(Aimet(problem.costs), seed)


def _bisect(problem: Problem, seed: int) -> Searcher:
    # What the second reference allows. Where all policies train, asking for no more would leave nothing to halve.
    return ProposerSearch(Bisect(problem.costs, max_quality_lost=problem.references[1][1]), seed)


def _levels(problem: Problem, seed: int) -> Searcher:
    return ProposerSearch(Levels(problem.costs), seed)


def _reinforce(problem: Problem, seed: int) -> Searcher:
    return ProposerSearch(Reinforce(problem.costs), seed)


def _random(problem: Problem, seed: int) -> Searcher:
    return StudySearch(make_sampler("random", seed), problem.costs)


def _nsga2(problem: Problem, seed: int) -> Searcher:
    return StudySearch(make_sampler("nsga2", seed), problem.costs)


def _tpe(problem: Problem, seed: int) -> Searcher:
    return StudySearch(TPESampler(seed=seed), problem.costs)


def _tpe_multivariate(problem: Problem, seed: int) -> Searcher:
    return StudySearch(make_sampler("tpe", seed), problem.costs)


PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        "ladder": _ladder,
        "tpe-multivariate": _tpe_multivariate,
        "tpe": _tpe,
        "nsga2": _nsga2,
        "random": _random,
        "aimet": _aimet,
        "bisect": _bisect,
        "reinforce": _reinforce,
        "levels": _levels,
    }
)
