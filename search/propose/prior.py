"""What is known of the sites before the first trial: chances of harm, from rules over a float32 run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...policies.errors import InputError
from .additive_loss import Features
from .arrays import Floats
from .cost_model import CostModel

# Where nothing is known, about one hazard is expected in a network, and never more than one in thirty sites.
_RARE = 1 / 30
# Rules tell a site that ruins training from one that only loses quality no better than this: in the measured table
# `sensors` (benchmarks/search) they are as sure as can be of six sites, of which one ruins training.
_SUREST = 0.9
# How much more than others a site is thought to lose, from its chance of harm.
_EMPHASIS = (0.5, 5.0)


class PriorColumns(NamedTuple):
    """By column of `Features`: the chance to be a hazard, and how much more than others it may lose."""

    hazard: Floats
    emphasis: Floats


@dataclass(frozen=True)
class Prior:
    """The chance, inside (0, 1), that a site does harm in a precision; the others get the flat one.

    `emphasis` is how much more than others a site is known to lose; where it is not, its chance of harm says so.
    """

    chances: Mapping[tuple[str, str], float]
    emphasis: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])

    def __post_init__(self) -> None:
        """Refuse certainties: a belief is never a ban."""
        for (site, choice), chance in self.chances.items():
            if not 0 < chance < 1:
                raise InputError(
                    f"the chance of harm of {site} in {choice} must lie inside (0, 1), but is {chance}"
                )

    def columns(self, costs: CostModel, features: Features) -> PriorColumns:
        """The prior of each column of a cost model."""
        flat = min(_RARE, 1 / max(features.single, 1))
        keys = [(costs.sites[site].name, costs.sites[site].choices[choice]) for site, choice in features.columns]
        hazard = np.array([self.chances.get(key, flat) for key in keys], dtype=float)
        by_chance = np.sqrt(hazard / flat)
        emphasis = [self.emphasis.get(key, guess) for key, guess in zip(keys, by_chance.tolist(), strict=True)]
        emphasised = np.clip(np.array(emphasis, dtype=float), *_EMPHASIS)
        return PriorColumns(np.minimum(hazard, _SUREST), emphasised)
