"""What a study over sites knew before its first trial, kept for answers that need no new one.

With the study's journal it is enough to hold the search's beliefs again, without a network or a device.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Direction, Finite
from ..evaluators.survey_result import Survey
from ..policies.errors import InputError
from ..search.advisors import SiteAdvisor
from ..search.history import read_history
from ..search.propose import CostModel, Tried
from ..search.propose.beliefs import Beliefs, Learner
from ..search.propose.prior import Prior
from ..search.proposers import Knowledge
from ..search.site_space import SiteSpace
from .confirmation import confirmation_of
from .home import StudyFolder
from .kept_history import kept_history
from .study_file import read_records


class KnownChance(BaseModel):
    """A site's chance of harm in a choice, and how much more than others it is known to lose, if it is."""

    model_config = ConfigDict(frozen=True)

    site: str
    choice: str
    chance: float | None = None
    emphasis: float | None = None


class KnownSites(BaseModel):
    """`sites.json`: the sites, their prices on `row`, chances of harm, noise, and what came from an earlier study.

    `noise`, `max_quality_lost` and `float32_quality` are in the metric's unit.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/sites/1"] = "halfwise/sites/1"
    survey: Survey
    sampler: str
    seed: int
    row: str
    space: SiteSpace
    costs: CostModel
    noise: Finite
    float32_quality: Finite
    max_quality_lost: Finite
    chances: tuple[KnownChance, ...]
    earlier: tuple[Tried, ...] = ()
    warm_start: str | None = None

    @classmethod
    def of(cls, advisor: SiteAdvisor, survey: Survey, row: str, float32_quality: float) -> "KnownSites":
        """What the advisor was made with; `float32_quality` is that of the study's own seed."""
        known = advisor.known
        return cls(
            survey=survey,
            sampler=advisor.name,
            seed=advisor.seed,
            row=row,
            space=advisor.space,
            costs=known.costs,
            noise=known.noise,
            float32_quality=float32_quality,
            max_quality_lost=known.max_quality_lost,
            chances=_chances(known.prior),
            earlier=known.earlier,
            warm_start=known.warm_start,
        )

    @property
    def direction(self) -> Direction:
        """Which way the metric is better."""
        return self.survey.direction

    @property
    def prior(self) -> Prior:
        """The chances of harm as a searcher takes them."""
        return Prior(
            {(each.site, each.choice): each.chance for each in self.chances if each.chance is not None},
            {(each.site, each.choice): each.emphasis for each in self.chances if each.emphasis is not None},
        )

    @property
    def knowledge(self) -> Knowledge:
        """What the study's searcher was made with."""
        return Knowledge(
            costs=self.costs,
            noise=self.noise,
            max_quality_lost=self.max_quality_lost,
            prior=self.prior,
            earlier=self.earlier,
            warm_start=self.warm_start,
        )

    def allows(self, trial: Tried) -> bool:
        """Whether a trial trained and lost no more than is allowed."""
        return trial.quality_lost is not None and trial.quality_lost <= self.max_quality_lost

    def beliefs(self, tried: Iterable[Tried]) -> Beliefs:
        """What the trials leave to be believed, whoever proposed them; float32 is known to lose nothing."""
        learner = Learner(self.costs, self.noise, self.prior, self.seed, self.earlier)
        history = [Tried(self.costs.float32, 0.0), *tried]
        return learner.believe(history, np.random.default_rng(self.seed))


def keep_sites(known: KnownSites, folder: StudyFolder) -> None:
    """Write `sites.json`."""
    write_json(known, folder.sites_file)


def known_sites(folder: StudyFolder) -> KnownSites:
    """What a study knew of its sites.

    Raises:
        InputError: it was no search over sites.
    """
    if not folder.sites_file.exists():
        raise InputError(
            f"study {folder.name} knows nothing of policies that it has not trained: only searches over sites "
            "(sampler ladder, exhaustive, aimet, bisect or reinforce) do"
        )
    return read_json(KnownSites, folder.sites_file)


def history_of(folder: StudyFolder, known: KnownSites) -> dict[int, Tried]:
    """The trials of a study over sites by number, as its searcher saw them; float32, a fixed policy, is none.

    A policy that did not train when it was confirmed did not train.

    Raises:
        HalfwiseError: the journal cannot be read.
    """
    kept = kept_history(folder)
    found = dict(read_history(folder.journal_file, known.costs)) if kept is None else kept
    for record in read_records(folder):
        confirmation = confirmation_of(record) if record.number in found else None
        if confirmation is not None and confirmation.failure is not None:
            found[record.number] = replace(found[record.number], quality_lost=None)
    return found


def failed_of(folder: StudyFolder, known: KnownSites, tried: Mapping[int, Tried]) -> list[Tried]:
    """The trials that are over and did not train, lost too much quality, or were taken back when confirmed."""
    held = {r.number: found.holds for r in read_records(folder) if (found := confirmation_of(r)) is not None}
    return [
        trial for number, trial in tried.items() if not trial.pending and not held.get(number, known.allows(trial))
    ]


def _chances(prior: Prior) -> tuple[KnownChance, ...]:
    keys = {**prior.chances, **prior.emphasis}
    return tuple(
        KnownChance(
            site=site,
            choice=choice,
            chance=prior.chances.get((site, choice)),
            emphasis=prior.emphasis.get((site, choice)),
        )
        for site, choice in keys
    )
