import warnings

import pytest
from optuna.samplers import NSGAIISampler, RandomSampler, TPESampler

from halfwise.policies.errors import InputError
from halfwise.search.samplers import SAMPLERS, make_sampler


@pytest.mark.parametrize(
    ("name", "kind"), [("tpe", TPESampler), ("nsga2", NSGAIISampler), ("random", RandomSampler)]
)
def test_each_name_makes_its_sampler_without_a_warning(name: str, kind: type) -> None:
    """The three names give Optuna's samplers, and no warning about experimental features reaches users."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(make_sampler(name, 0)) is kind
    assert SAMPLERS[name]


def test_generations_fit_a_study_of_tens_of_trials() -> None:
    """With thirty trials NSGA-II must come to cross and mutate, so a generation is a part of that."""
    sampler = make_sampler("nsga2", 0)
    assert isinstance(sampler, NSGAIISampler)
    assert sampler.population_size == 10


def test_an_unknown_sampler_lists_the_known_ones() -> None:
    """A misspelt name gets the names and a near miss."""
    with pytest.raises(
        InputError, match=r"unknown sampler 'nsga'; allowed: tpe, nsga2, random; did you mean 'nsga2'\?"
    ):
        make_sampler("nsga", 0)
