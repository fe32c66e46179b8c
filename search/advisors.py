"""Who proposes policies in a study: an Optuna sampler over layers and op lists, or a proposer over sites."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import optuna
from optuna.trial import Trial

from ..policies import Policy
from ..policies.errors import InputError
from .longer import latest_trials
from .propose import CostModel, Proposer, Tried
from .propose.beliefs import Beliefs
from .propose.ladder import Ladder
from .propose.optuna_sampler import CHOICES, History
from .proposers import Knowledge
from .samplers import make_sampler
from .settled import Settled, settled
from .site_space import SiteSpace
from .space import SearchSpace

Suggestion = Callable[[Trial], Policy]
"""Writes into a trial what was chosen, and gives the policy of it."""


class Advisor(Protocol):
    """Proposes the next policy from the trials of an Optuna study; the same history gives the same proposal."""

    def terms(self) -> dict[str, list[str]]:
        """What a resumed study must have in common with its first half, in words."""
        ...

    def suggest(self, study: optuna.Study, index: int) -> Suggestion | None:
        """The next suggestion, after `index` proposals that count; None when nothing is left to try."""
        ...

    def beliefs(self, study: optuna.Study) -> Beliefs | None:
        """What the study's trials leave to be believed of the sites; None where no beliefs are held."""
        ...

    def settled(self, study: optuna.Study) -> tuple[Policy, Settled] | None:
        """The policy that no trial can improve on any more; None while one could, or where nobody can say."""
        ...


@dataclass(frozen=True)
class SamplerAdvisor:
    """One of Optuna's samplers, by its name; layers and ops are its parameters.

    Raises:
        InputError: there is no such sampler, or the seed is negative.
    """

    sampler: str
    space: SearchSpace
    seed: int

    def __post_init__(self) -> None:
        """What is wrong here must not leave a study behind."""
        if self.seed < 0:
            raise InputError(f"the seed must be a whole number >= 0, but got {self.seed}")
        make_sampler(self.sampler, self.seed)

    def terms(self) -> dict[str, list[str]]:
        """Sampler, seed and space."""
        return {"sampler": [self.sampler], "seed": [str(self.seed)], **self.space.terms()}

    def suggest(self, study: optuna.Study, index: int) -> Suggestion | None:
        """A draw of the sampler, with a seed of its own for each."""
        study.sampler = make_sampler(self.sampler, draw_seed(self.seed, index))
        return self._draw

    def beliefs(self, study: optuna.Study) -> None:
        """None: Optuna's samplers hold no beliefs of sites."""

    def settled(self, study: optuna.Study) -> None:
        """None: without sites nobody can say."""

    def _draw(self, trial: Trial) -> Policy:
        parameters = self.space.parameters()
        return self.space.policy({name: trial.suggest_categorical(name, of) for name, of in parameters.items()})


@dataclass(frozen=True)
class SiteAdvisor:
    """A proposer over the sites of a network, by its name; `known` is what it was made with.

    `float32` is known to it from the start: it loses nothing. The choices stand in the trial as one attribute,
    which is written at once, where hundreds of parameters would be written one by one.
    """

    name: str
    proposer: Proposer
    space: SiteSpace
    known: Knowledge
    seed: int

    @property
    def costs(self) -> CostModel:
        """The sites with their prices."""
        return self.known.costs

    def terms(self) -> dict[str, list[str]]:
        """Proposer, seed and space, and the study that it was started from."""
        warm = {} if self.known.warm_start is None else {"warm start": [self.known.warm_start]}
        return {"sampler": [self.name], "seed": [str(self.seed)], **warm, **self.space.terms()}

    def suggest(self, study: optuna.Study, index: int) -> Suggestion | None:
        """What the proposer makes of the study's trials."""
        choices = self.proposer.propose(self._history(study), np.random.default_rng([self.seed, index]))
        if choices is None:
            return None
        return lambda trial: self._write(trial, self.costs.named(choices))

    def beliefs(self, study: optuna.Study) -> Beliefs | None:
        """Those of the ladder; the same draws each time, so that only what was learnt makes a difference."""
        if not isinstance(self.proposer, Ladder):
            return None
        return self.proposer.believe(self._history(study), np.random.default_rng(self.seed))

    def settled(self, study: optuna.Study) -> tuple[Policy, Settled] | None:
        """For the ladder only: the others follow a procedure to its end."""
        if not isinstance(self.proposer, Ladder):
            return None
        found = settled(self.costs, self._history(study), self.known.noise, self.known.max_quality_lost)
        return None if found is None else (self.space.policy(self.costs.named(found.choices)), found)

    def _history(self, study: optuna.Study) -> Sequence[Tried]:
        return [Tried(self.costs.float32, 0.0), *self._read.of(latest_trials(study))]

    @cached_property
    def _read(self) -> History:
        return History(self.costs)

    def _write(self, trial: Trial, named: Mapping[str, str]) -> Policy:
        trial.set_user_attr(CHOICES, dict(named))
        return self.space.policy(named)


def draw_seed(seed: int, index: int) -> int:
    """The seed of one draw: well apart for neighbouring seeds and draws."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0])
