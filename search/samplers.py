"""Who proposes the next policy: Optuna's stock samplers, by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from optuna.samplers import BaseSampler, NSGAIISampler, RandomSampler, TPESampler

from .words import unknown

# A study has tens of trials. With Optuna's own 50, all of them would fall into the first, random generation.
POPULATION = 10

SAMPLERS: Mapping[str, str] = MappingProxyType(
    {
        "tpe": "models which choices good policies have together (multivariate TPE)",
        "nsga2": f"crosses and mutates good policies (NSGA-II, generations of {POPULATION})",
        "random": "draws every choice evenly; learns nothing, the yardstick for the others",
    }
)


def make_sampler(name: str, seed: int) -> BaseSampler:
    """A fresh sampler; the same seed and the same history of trials give the same proposal.

    Raises:
        InputError: no sampler has this name.
    """
    if name not in _MAKERS:
        raise unknown("sampler", name, SAMPLERS)
    return _MAKERS[name](seed)


def _tpe(seed: int) -> BaseSampler:
    # constant_liar would count trials in flight as bad ones, and two runs would differ by their timing.
    return TPESampler(multivariate=True, constant_liar=False, seed=seed)


def _nsga2(seed: int) -> BaseSampler:
    return NSGAIISampler(population_size=POPULATION, seed=seed)


def _random(seed: int) -> BaseSampler:
    return RandomSampler(seed=seed)


_MAKERS: Mapping[str, Callable[[int], BaseSampler]] = MappingProxyType(
    {"tpe": _tpe, "nsga2": _nsga2, "random": _random}
)
