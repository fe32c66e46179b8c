"""Who races on zoo networks: halfwise's ladder, published procedures, and Optuna's samplers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from optuna.samplers import BaseSampler, TPESampler

from halfwise.search.propose.prior import Prior
from halfwise.search.propose.proposer import Tried
from halfwise.search.proposers import Knowledge, make_proposer
from halfwise.search.samplers import make_sampler

from ..peers import ProposerSearch, Searcher, StudySearch

Start = Callable[[Knowledge, int], Searcher]
"""Begins a search with what is known beforehand, and a seed."""


@dataclass(frozen=True)
class Entrant:
    """How a search begins, and whether what it asks for hangs on what became of its trials."""

    begin: Start
    learns: bool = True


OURS = "ladder"


def _proposer(name: str, known: Knowledge, seed: int) -> Searcher:
    """As in a search by halfwise, float32 is known from the start."""
    return ProposerSearch(make_proposer(name, known, seed), seed, (Tried(known.costs.float32, 0.0),))


def _unwarned(known: Knowledge, seed: int) -> Searcher:
    return _proposer(OURS, replace(known, prior=Prior({})), seed)


def _sampler(make: Callable[[int], BaseSampler], known: Knowledge, seed: int) -> Searcher:
    return StudySearch(make(seed), known.costs)


def _tpe(seed: int) -> BaseSampler:
    return TPESampler(seed=seed)


SEARCHERS: Mapping[str, Entrant] = MappingProxyType(
    {
        OURS: Entrant(partial(_proposer, OURS)),
        "ladder, unwarned": Entrant(_unwarned),
        "bisect": Entrant(partial(_proposer, "bisect")),
        "tpe-multivariate": Entrant(partial(_sampler, partial(make_sampler, "tpe"))),
        "tpe": Entrant(partial(_sampler, _tpe)),
        "nsga2": Entrant(partial(_sampler, partial(make_sampler, "nsga2"))),
        "random": Entrant(partial(_sampler, partial(make_sampler, "random")), learns=False),
    }
)
"""The unwarned ladder knows no chances of harm: all that it learns it learns from trials."""
