"""The outcomes that are checked in: they fit the plans of their networks, and come out the same once more."""

from itertools import compress

import numpy as np
import pytest

from benchmarks.search.zoo.contest import OUTCOMES, PLANS
from benchmarks.search.zoo.laboratory import Laboratory
from benchmarks.search.zoo.outcomes import Trained, book_path, read_book
from benchmarks.search.zoo.plan import Plan
from halfwise.evaluators.device_facts import DeviceFacts

RECORDED = [plan for plan in PLANS if book_path(OUTCOMES, plan.name).exists()]


def low_groups(plan: Plan, outcome: Trained) -> set[str]:
    """The groups that were float16."""
    return set(compress(plan.truth.groups, outcome.choices))


def test_there_are_outcomes_of_every_network():
    """Each network of the contest has its book, and no book is of another."""
    assert sorted(path.name for path in OUTCOMES.iterdir()) == sorted(f"{p.name}.jsonl.gz" for p in PLANS)


@pytest.mark.parametrize("plan", RECORDED, ids=lambda plan: plan.name)
def test_outcomes_are_what_the_plan_makes_of_them(plan: Plan):
    """A ruinous hazard in float16 ruins training and is blamed; without any hazard nothing is lost.

    The cost model is near the price of the compiled step.
    """
    book = read_book(book_path(OUTCOMES, plan.name))
    network, best = book.network, book.outcomes[book.network.best]
    assert [site.name for site in network.costs.sites] == list(plan.truth.groups)
    assert not low_groups(plan, best) & set(plan.truth.hazards)
    for outcome in book.outcomes.values():
        low = low_groups(plan, outcome)
        ruinous = {path for path in low if path in plan.truth.hazards and not plan.truth.hazards[path].graded}
        assert (outcome.quality_lost is None) == bool(ruinous)
        assert {plan.truth.groups[site] for site in outcome.blamed} <= ruinous
        assert outcome.diagnosis_steps == bool(ruinous)
        assert network.costs.speedup(outcome.choices) == pytest.approx(outcome.speedup, rel=0.05)
        if outcome.quality_lost is not None and not low & set(plan.truth.hazards):
            assert abs(outcome.quality_lost) <= network.allowed
            assert outcome.speedup <= 1.03 * best.speedup


@pytest.mark.timeout(900)
@pytest.mark.full
def test_outcomes_come_out_the_same_when_trained_anew():
    """Three outcomes drawn at random: the same seeds, so the same figures but for another CPU's roundings."""
    random = np.random.default_rng(0)
    for place in random.choice(len(RECORDED), 3, replace=False):
        plan = RECORDED[place]
        book = read_book(book_path(OUTCOMES, plan.name))
        outcomes = [book.outcomes[choices] for choices in sorted(book.outcomes)]
        outcome = outcomes[random.integers(len(outcomes))]
        laboratory = Laboratory(plan, DeviceFacts("CPU", ("float16",), {}, reference_convolution=True))
        again = laboratory.train(book.network, outcome.choices)
        assert again.speedup == pytest.approx(outcome.speedup, rel=1e-9)
        assert again.blamed == outcome.blamed
        if outcome.quality_lost is None:
            assert again.quality_lost is None
        else:
            assert again.quality_lost == pytest.approx(outcome.quality_lost, abs=0.5 * book.network.allowed)
