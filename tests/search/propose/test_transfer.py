"""What one study's trials teach another."""

import numpy as np
import pytest

from halfwise.search.propose import CostModel, Site, Tried
from halfwise.search.propose.beliefs import Learner
from halfwise.search.propose.prior import Prior
from halfwise.search.propose.transfer import carried, shared_choices, transferred

LOW = ("float32", "float16")


def network(*names: str) -> CostModel:
    """Sites of these names, each faster in float16 by as much."""
    return CostModel(1.0, tuple(Site(name, LOW, (1.0, 0.5)) for name in names))


def transfer(costs: CostModel, earlier: CostModel, tried: list[Tried], prior: Prior | None = None) -> Prior:
    """The prior of a new network after the trials of an earlier one."""
    learner = Learner(earlier, 0.01)
    before = learner.believe([], np.random.default_rng(0))
    after = Learner(earlier, 0.01).believe(tried, np.random.default_rng(0))
    return transferred(prior or Prior({}), costs, earlier, before, after)


def test_losses_are_brought_to_the_new_noise_and_the_rest_stays():
    """A loss of three times the old noise becomes three times the new one; failures keep who is blamed."""
    tried = [Tried((1, 0), 0.03), Tried((1, 1), None, frozenset({1}))]
    first, second = carried(tried, 0.01, 0.002)
    assert (first.choices, first.quality_lost) == ((1, 0), pytest.approx(0.006))
    assert second == tried[1]


def test_trials_that_never_ended_teach_nothing():
    """A pending trial is not carried over."""
    assert carried([Tried((1,), None, pending=True)], 0.1, 0.1) == ()


def test_only_low_choices_that_both_have_are_shared():
    """Sites are known by their names, and only in precisions that both studies offer."""
    other = CostModel(1.0, (Site("a", ("float32", "bfloat16"), (1.0, 0.5)), Site("b", LOW, (1.0, 0.5))))
    assert shared_choices(network("a", "b", "c"), other) == {("b", "float16")}


def test_a_hazard_there_is_likely_here_and_what_trained_there_is_unlikely():
    """The odds of harm move as they did in the earlier study, the others keep what the rules said."""
    tried = [Tried((1, 1), None, frozenset({0})), Tried((0, 1), 0.0)]
    prior = Prior({("a", "float16"): 0.1, ("b", "float16"): 0.1, ("new", "float16"): 0.1})
    found = transfer(network("a", "b", "new"), network("a", "b"), tried, prior).chances
    assert found["a", "float16"] > 0.5
    assert found["b", "float16"] < 0.06
    assert found["new", "float16"] == 0.1


def test_evidence_from_another_network_is_bounded():
    """However sure the earlier study was, odds move by a factor of 20 at most: a belief never becomes a ban."""
    tried = [Tried((1,), None, frozenset({0}))] * 9
    found = transfer(network("a"), network("a"), tried, Prior({("a", "float16"): 0.1})).chances["a", "float16"]
    assert found / (1 - found) == pytest.approx(20 * 0.1 / 0.9)


def test_what_lost_more_than_others_there_is_thought_to_here():
    """Emphasis goes over as the share of the mean loss; nothing does where no low policy has trained."""
    tried = [Tried((1, 0), 0.4), Tried((0, 1), 0.0), Tried((1, 1), 0.4)] * 2
    emphasis = transfer(network("b", "a", "new"), network("a", "b"), tried).emphasis
    assert set(emphasis) == {("a", "float16"), ("b", "float16")}
    assert emphasis["a", "float16"] > 1.5 > 0.5 > emphasis["b", "float16"]
    assert transfer(network("a"), network("a"), [Tried((1,), None)]).emphasis == {}


def test_a_known_emphasis_stands_and_others_follow_their_chance():
    """The columns of a prior take the given emphasis, within bounds, and else the root of the chance of harm."""
    costs = network("a", "b", "c")
    prior = Prior({("c", "float16"): 0.3}, {("a", "float16"): 2.0, ("b", "float16"): 50.0})
    columns = prior.columns(costs, Learner(costs, 0.1).features)
    assert columns.emphasis.tolist() == pytest.approx([2.0, 5.0, 3.0])
