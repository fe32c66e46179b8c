"""What one study's trials teach another: all trials where the sites are the same, else site by site."""

from collections.abc import Iterable

import numpy as np

from .additive_loss import Features
from .arrays import Floats
from .beliefs import Beliefs
from .cost_model import CostModel
from .prior import Prior
from .proposer import Tried

SiteChoice = tuple[str, str]
"""A site's name and one of its choices."""

# Another network is not the same one: how far its trials may raise or lower the odds of harm, at most.
_MOST_EVIDENCE = 20.0


def carried(tried: Iterable[Tried], noise: float, new_noise: float) -> tuple[Tried, ...]:
    """The trials that are over, for a study of the same sites with another noise.

    What counts of a loss is how far it stands out of its own study's noise, which is smaller where trials are
    longer: losses are brought from the one noise to the other.
    """
    return tuple(
        Tried(
            trial.choices,
            None if trial.quality_lost is None else trial.quality_lost * new_noise / noise,
            trial.blamed,
        )
        for trial in tried
        if not trial.pending
    )


def shared_choices(costs: CostModel, earlier: CostModel) -> frozenset[SiteChoice]:
    """The low choices that two studies have in common, by the names of their sites."""
    return frozenset(_low_choices(costs)) & frozenset(_low_choices(earlier))


def transferred(prior: Prior, costs: CostModel, earlier: CostModel, before: Beliefs, after: Beliefs) -> Prior:
    """The prior of a new study with what an earlier one of another network found out, for the sites they share.

    `prior` and `costs` are the new study's. `before` are the earlier one's beliefs without its trials, `after`
    with them: by as much as trials raised or lowered the odds of harm there, they do here (Bayes' rule). What was
    found to lose more quality than other sites there is thought to do so here.
    """
    shared = shared_choices(costs, earlier)
    keys = _low_choices(earlier)
    evidence = _odds(after.hazards.chance) / _odds(before.hazards.chance)
    evidence = dict(zip(keys, np.clip(evidence, 1 / _MOST_EVIDENCE, _MOST_EVIDENCE).tolist(), strict=True))
    own_keys, columns = _low_choices(costs), prior.columns(costs, Features(costs.sizes, ()))
    odds = dict(zip(own_keys, _odds(columns.hazard).tolist(), strict=True))
    chances = {key: _chance(odds[key] * evidence[key]) for key in own_keys if key in shared}
    emphasis = {key: value for key, value in zip(keys, _emphasis(after), strict=False) if key in shared}
    return Prior({**prior.chances, **chances}, {**prior.emphasis, **emphasis})


def _low_choices(costs: CostModel) -> list[SiteChoice]:
    """In the order of `Features.columns`."""
    return [(site.name, choice) for site in costs.sites for choice in site.choices[1:]]


def _emphasis(beliefs: Beliefs) -> list[float]:
    """What each column loses against the mean; nothing is known where no policy with a low site has trained."""
    losses = np.maximum(beliefs.weights[: beliefs.features.single], 0)
    if not beliefs.learnt_from.any() or not losses.any():
        return []
    return (losses / losses.mean()).tolist()


def _odds(chance: Floats) -> Floats:
    return chance / (1 - chance)


def _chance(odds: float) -> float:
    return odds / (1 + odds)
