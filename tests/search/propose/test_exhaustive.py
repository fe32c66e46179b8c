import itertools

import pytest
from hypothesis import given, settings

from halfwise.policies.errors import InputError
from halfwise.search.propose.cost_model import CostModel
from halfwise.search.propose.exhaustive import Exhaustive

from .models import additive, cost_models, history, row


@settings(max_examples=20)
@given(cost_models())
def test_every_assignment_comes_once_fastest_first(model: CostModel):
    """All assignments are proposed, each once, in the order of their price."""
    tried = history(Exhaustive(model), additive(*[0.0] * len(model.sites)), 10_000)
    every = set(itertools.product(*map(range, model.sizes)))
    assert len(tried) == len(every)
    assert {trial.choices for trial in tried} == every
    seconds = [model.step_time_s(trial.choices) for trial in tried]
    assert seconds == sorted(seconds)


def test_a_space_of_4096_is_the_largest():
    """Twelve sites of two choices are taken; thirteen are refused with their number."""
    Exhaustive(row(*[0.1] * 12))
    with pytest.raises(InputError, match=r"at most 4,096, but this space of 13 sites has 8,192"):
        Exhaustive(row(*[0.1] * 13))
