"""Who proposes policies in a study: an Optuna sampler over layers and op lists, or a proposer over sites."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import optuna
from optuna.trial import Trial

from ..policies import Policy
from ..policies.errors import InputError
from .propose import CostModel, Proposer, Tried
from .propose.optuna_sampler import CHOICES, tried_of
from .samplers import make_sampler
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

    def _draw(self, trial: Trial) -> Policy:
        parameters = self.space.parameters()
        return self.space.policy({name: trial.suggest_categorical(name, of) for name, of in parameters.items()})


@dataclass(frozen=True)
class SiteAdvisor:
    """A proposer over the sites of a network, by its name.

    `float32` is known to it from the start: it loses nothing. The choices stand in the trial as one attribute,
    which is written at once, where hundreds of parameters would be written one by one.
    """

    name: str
    proposer: Proposer
    space: SiteSpace
    costs: CostModel
    seed: int

    def terms(self) -> dict[str, list[str]]:
        """Proposer, seed and space."""
        return {"sampler": [self.name], "seed": [str(self.seed)], **self.space.terms()}

    def suggest(self, study: optuna.Study, index: int) -> Suggestion | None:
        """What the proposer makes of the study's trials."""
        choices = self.proposer.propose(self._history(study), np.random.default_rng([self.seed, index]))
        if choices is None:
            return None
        return lambda trial: self._write(trial, self.costs.named(choices))

    def _history(self, study: optuna.Study) -> Sequence[Tried]:
        tried = (tried_of(self.costs, trial) for trial in study.get_trials(deepcopy=False))
        return [Tried(self.costs.float32, 0.0), *(trial for trial in tried if trial is not None)]

    def _write(self, trial: Trial, named: Mapping[str, str]) -> Policy:
        trial.set_user_attr(CHOICES, dict(named))
        return self.space.policy(named)


def draw_seed(seed: int, index: int) -> int:
    """The seed of one draw: well apart for neighbouring seeds and draws."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0])
