"""Synthetic chains: sites in a row, each float32 or low, with casts, losses and neighbours drawn at random.

A few sites hold most of the time and a few most of the loss, as in real networks. The float32 step takes 2 s; with
everything low it takes 1 s and loses a quality of 1.
"""

from dataclasses import dataclass

import numpy as np

from halfwise.search.propose.arrays import Floats
from halfwise.search.propose.cost_model import Border, Choices, CostModel, Site
from halfwise.search.propose.prior import Prior
from halfwise.search.propose.proposer import Tried

from .chain_front import chain_front
from .problems import Observation, Places

# The spread of what sites gain and lose, as the standard deviation of a logarithm.
_GAIN_SPREAD = 2.0
_LOSS_SPREAD = 1.5
# A cast takes at most this share of the lesser gain of the two sites, a neighbour term of the lesser loss.
_CAST_SHARE = 0.2
_NEIGHBOUR_SHARE = 0.5
_NOISE = 0.02
_CHOICES = ("float32", "float16")
_NOTHING_KNOWN = Prior({})
# Everything low loses most, 1. The second reference looks at the policies that lose little.
_REFERENCES = ((1.0, 1.0), (1.0, 0.2))


@dataclass(frozen=True)
class Chain:
    """A chain of n sites; a `Problem`.

    `gain_s` (n,) is what a site saves when low, `cast_s` (n - 1,) what it costs where neighbours differ.
    `lost` (n,) is the quality that a site loses when low, `lost_together` (n - 1,) what is added where two
    neighbours are both low (less than nothing where one makes the other less harmful). Each observed loss has
    fresh noise. Nothing is known of the sites beforehand.
    """

    costs: CostModel
    gain_s: Floats
    cast_s: Floats
    lost: Floats
    lost_together: Floats
    noise: float = _NOISE
    prior: Prior = _NOTHING_KNOWN
    references: Places = _REFERENCES

    def speedup(self, choices: Choices) -> float:
        """Times float32's speed."""
        return self.costs.speedup(choices)

    def quality_lost(self, choices: Choices) -> float:
        """The true loss, without noise."""
        low = np.array(choices, dtype=float)
        return float(self.lost @ low + self.lost_together @ (low[1:] * low[:-1]))

    def observe(self, choices: Choices, rng: np.random.Generator) -> Observation:
        """One trial: the true loss with noise."""
        return Observation(Tried(choices, self.quality_lost(choices) + self.noise * rng.standard_normal()))

    def exact_front(self) -> Places:
        """The front of all 2^n policies, fastest first."""
        seconds, lost = chain_front(self.gain_s, self.cast_s, self.lost, self.lost_together).T
        float32_s = self.costs.step_time_s(self.costs.float32)
        return list(zip((float32_s / (float32_s + seconds)).tolist(), lost.tolist(), strict=True))


def draw_chain(sites: int, seed: int) -> Chain:
    """The chain of this length and seed; equal for equal arguments.

    What sites gain sums to 1 s; losses and neighbour terms sum to 1.
    """
    rng = np.random.default_rng([seed, sites])
    gain = rng.lognormal(0, _GAIN_SPREAD, sites)
    gain /= gain.sum()
    cast = rng.uniform(0, 1, sites - 1) * _CAST_SHARE * np.minimum(gain[1:], gain[:-1])
    lost = rng.lognormal(0, _LOSS_SPREAD, sites)
    lesser = np.minimum(lost[1:], lost[:-1])
    together = rng.choice([-1, 0, 0, 1], sites - 1) * _NEIGHBOUR_SHARE * lesser * rng.uniform(0, 1, sites - 1)
    total = lost.sum() + together.sum()
    return Chain(_costs(gain, cast), gain, cast, lost / total, together / total)


def _costs(gain_s: Floats, cast_s: Floats) -> CostModel:
    """A second that nothing changes, and what sites and borders take."""
    sites = tuple(Site(f"site{i}", _CHOICES, (gain, 0.0)) for i, gain in enumerate(gain_s.tolist()))
    borders = tuple(Border(i, i + 1, ((0.0, cast), (cast, 0.0))) for i, cast in enumerate(cast_s.tolist()))
    return CostModel(1.0, sites, borders)


@dataclass(frozen=True)
class Chains:
    """The chains of one length, one for each seed; a `Family`."""

    sites: int

    @property
    def name(self) -> str:
        """Such as "chain-60"."""
        return f"chain-{self.sites}"

    def problem(self, seed: int) -> Chain:
        """The chain of a seed."""
        return draw_chain(self.sites, seed)
