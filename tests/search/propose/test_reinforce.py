import numpy as np
import pytest

from halfwise.search.propose.cost_model import CostModel, Site
from halfwise.search.propose.proposer import Tried
from halfwise.search.propose.reinforce import Reinforce

from .models import LOW, additive, history, row

MODEL = row(0.3, 0.3, 0.3)


def test_one_step_is_the_gradient_of_the_log_probability():
    """A trial moves the logits by learning rate times advantage times the gradient, taken here by differences."""
    model = CostModel(1.0, (Site("a", LOW, (1.0, 0.5, 0.7)), Site("b", LOW[:2], (1.0, 0.6))))
    tried = [Tried((0, 0), 0.0), Tried((2, 1), 0.4)]
    reward = model.speedup((2, 1)) - 1 - 1.0

    def log_probability(logits):
        exponentials = [np.exp(row[np.isfinite(row)]) for row in logits]
        return sum(np.log(e[choice] / e.sum()) for e, choice in zip(exponentials, (2, 1), strict=True))

    start, moved = Reinforce(model).logits([]), Reinforce(model, learning_rate=0.5).logits(tried)
    assert np.isneginf(moved).tolist() == np.isneginf(start).tolist() == [[False] * 3, [False, False, True]]
    for place in zip(*np.nonzero(np.isfinite(start)), strict=True):
        there = start.copy()
        there[place] += 1e-6
        gradient = (log_probability(there) - log_probability(start)) / 1e-6
        # The first trial, float32, earned nothing and set the baseline.
        assert moved[place] == pytest.approx(0.5 * reward * gradient, abs=1e-5)


def test_choices_that_pay_become_likely():
    """After many trials the site that ruins training is float32, the harmless ones are low."""
    outcome = additive(0.0, float("inf"), 0.0)
    tried = history(Reinforce(MODEL), outcome, 150)
    logits = Reinforce(MODEL).logits(tried)
    assert [int(row.argmax()) for row in logits] == [1, 0, 1]


def test_pending_trials_teach_nothing():
    """What is still running changes no probability."""
    tried = [Tried((1, 0, 0), 0.1), Tried((0, 1, 0), None)]
    expected = Reinforce(MODEL).logits(tried)
    assert Reinforce(MODEL).logits([*tried, Tried((1, 1, 1), None, pending=True)]).tolist() == expected.tolist()


def test_first_draws_are_even():
    """Without trials each choice of a site is as likely as the others; a choice that it lacks is never drawn."""
    model = CostModel(1.0, (Site("a", LOW, (1, 1, 1)), Site("b", LOW[:1], (1,))))
    rng = np.random.default_rng(3)
    draws = np.array([Reinforce(model).propose([], rng) for _ in range(3000)])
    assert draws[:, 1].tolist() == [0] * 3000
    # Five standard deviations of a binomial count.
    assert np.bincount(draws[:, 0]) == pytest.approx([1000] * 3, abs=5 * np.sqrt(3000 * 2 / 9))
