"""Any proposer as an Optuna sampler: the study's trials are its history, and its choices the parameters."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from .cost_model import CostModel
from .proposer import Proposer, Tried

CHOICES = "choices"
QUALITY_LOST = "quality_lost"
BLAMED = "blamed"
CAUSE = "cause"

_RUNNING = (TrialState.RUNNING, TrialState.WAITING)


def attributes(costs: CostModel, trial: Tried) -> dict[str, Any]:
    """What a trial's user attributes must hold for `tried_of` to read it back; plain JSON."""
    known: dict[str, Any] = {CHOICES: costs.named(trial.choices)}
    if trial.quality_lost is not None:
        known[QUALITY_LOST] = trial.quality_lost
    if trial.blamed:
        known[BLAMED] = sorted(costs.sites[site].name for site in trial.blamed)
    return known


def tried_of(costs: CostModel, trial: FrozenTrial) -> Tried | None:
    """The trial as a proposer sees it; None where there is nothing to see.

    Its choices stand in the user attribute `choices` (precisions by the names of sites) or in its parameters;
    without either there is nothing to see. A running trial is pending. A complete one has its loss against float32
    in `quality_lost`, a number, or did not train. A failed trial says nothing of its policy: with a `cause` it
    counts as pending for good, so that nobody asks for it again; without one it was interrupted, and is as if it
    had not been.

    Raises:
        InputError: a choice is not one of its site's.
    """
    known = trial.user_attrs
    named: Mapping[str, str] = known.get(CHOICES, trial.params)
    interrupted = trial.state == TrialState.FAIL and CAUSE not in known
    if interrupted or not all(site.name in named for site in costs.sites):
        return None
    choices = costs.placed(named)
    if trial.state in _RUNNING or trial.state == TrialState.FAIL:
        return Tried(choices, None, pending=True)
    blamed = frozenset(number for number, site in enumerate(costs.sites) if site.name in known.get(BLAMED, ()))
    return Tried(choices, known.get(QUALITY_LOST), blamed)


class History:
    """Reads the trials of a study as a proposer sees them, each finished one once."""

    def __init__(self, costs: CostModel) -> None:
        """Nothing is read yet; `costs` are those of the sites."""
        self._costs = costs
        self._read: dict[int, tuple[Mapping[str, Any], TrialState, Tried | None]] = {}

    def of(self, trials: Iterable[FrozenTrial]) -> list[Tried]:
        """What `tried_of` makes of them, without those of which there is nothing to see.

        A trial is known by its number and its very attributes, which a storage replaces where they change.
        """
        found = (self._tried(trial) for trial in trials)
        return [tried for tried in found if tried is not None]

    def _tried(self, trial: FrozenTrial) -> Tried | None:
        attributes, state, tried = self._read.get(trial.number, (None, None, None))
        if attributes is trial.user_attrs and state == trial.state:
            return tried
        tried = tried_of(self._costs, trial)
        if trial.state.is_finished():
            self._read[trial.number] = (trial.user_attrs, trial.state, tried)
        return tried


class ProposerSampler(BaseSampler):
    """Suggests what a proposer proposes, all sites at once; each site is a categorical parameter of its name.

    The objective sets the user attributes that `attributes` gives. Values, directions and constraints of the study
    are not looked at. Where the proposer has nothing left, and for parameters that are no sites, draws are random.
    Each proposal draws from a generator of its own, seeded by `seed` and the number of trials seen: a study that
    is stopped and resumed goes on as if it had not been.
    """

    def __init__(self, proposer: Proposer, costs: CostModel, seed: int) -> None:
        self._proposer = proposer
        self._costs = costs
        self._seed = seed
        self._read = History(costs)
        self._independent = RandomSampler(seed)

    def reseed_rng(self) -> None:
        """Make the draws that are independent of the proposer differ between workers."""
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """All sites."""
        return {site.name: CategoricalDistribution(site.choices) for site in self._costs.sites}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The proposal, for the sites in the search space; empty where the proposer has nothing left."""
        tried = self._history(study, trial)
        choices = self._proposer.propose(tried, np.random.default_rng([self._seed, len(tried)]))
        named = {} if choices is None else self._costs.named(choices)
        return {name: precision for name, precision in named.items() if name in search_space}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A random draw."""
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def _history(self, study: Study, current: FrozenTrial) -> Sequence[Tried]:
        others = (trial for trial in study.get_trials(deepcopy=False) if trial.number != current.number)
        return self._read.of(others)
