"""The ladder where sites have several low precisions, layers hold one, and loss scaling is a choice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.search.propose.additive_loss import Features
from halfwise.search.propose.cost_model import Border, CostModel, Site
from halfwise.search.propose.ladder import Ladder
from halfwise.search.propose.prior import Prior
from halfwise.search.propose.proposer import Tried

from .models import LOW

SITES = 5
# Casts between any two different precisions, from one low one to the other too.
CASTS = tuple(tuple(0.005 * (a != b) for b in range(3)) for a in range(3))


def chain(regions=(), extra=()) -> CostModel:
    """Sites in a row that save a second in float16 and a little less in bfloat16."""
    sites = tuple(Site(f"s{n}", LOW, (1.0, 0.0, 0.02)) for n in range(SITES))
    borders = tuple(Border(n, n + 1, CASTS) for n in range(SITES - 1))
    return CostModel(1.0, (*sites, *extra), borders, regions=regions)


def propose(ladder, tried=()):
    """The next proposal; there always is one here."""
    found = ladder.propose(list(tried), np.random.default_rng(len(tried)))
    assert found is not None
    return found


def test_a_named_hazard_of_float16_goes_to_bfloat16():
    """A site that went non-finite in float16 is tried in bfloat16 next: the failure says nothing of that."""
    ladder = Ladder(chain(), noise=0.01)
    assert propose(ladder) == (1,) * SITES
    found = propose(ladder, [Tried((1,) * SITES, None, frozenset({2}))])
    assert found[2] == 2
    assert all(found)


def test_each_precision_has_a_prior_of_its_own():
    """A site that is likely to do harm in float16 and not in bfloat16 begins in bfloat16."""
    prior = Prior(
        {("s1", "float16"): 0.9, ("s1", "bfloat16"): 0.01, ("s3", "float16"): 0.9, ("s3", "bfloat16"): 0.9}
    )
    assert propose(Ladder(chain(), noise=0.01, prior=prior)) == (1, 2, 1, 0, 1)


def test_a_hazard_in_a_layer_of_ops_moves_the_layer_to_the_other_precision():
    """Ops of one layer share their low precision: with one of them a hazard in float16, all go to bfloat16."""
    model = chain(regions=((1, 2, 3),))
    found = propose(Ladder(model, noise=0.01), [Tried((1,) * SITES, None, frozenset({2}))])
    assert found == (1, 2, 2, 2, 1)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_no_layer_is_asked_for_two_low_precisions(seed):
    """Whatever comes of the trials, no proposal holds two low precisions in one layer, and none comes twice."""
    rng = np.random.default_rng(seed)
    model = chain(regions=((0, 1), (2, 3, 4)), extra=tuple(Site(f"t{n}", LOW, (0.5, 0.1, 0.0)) for n in range(4)))
    ladder, tried = Ladder(model, noise=0.1, seed=seed), []
    for _ in range(12):
        choices = propose(ladder, tried)
        assert model.one_low(choices) == choices
        assert choices not in [trial.choices for trial in tried]
        blamed = frozenset(rng.choice(SITES, 1).tolist())
        tried.append(Tried(choices, None, blamed) if rng.random() < 0.4 else Tried(choices, float(rng.random())))


def test_loss_scaling_is_given_up_where_it_is_not_needed():
    """Training without loss scaling is faster: it is tried where harm is unlikely, and only there."""
    scaling = Site("loss scaling", ("dynamic", "none"), (0.0, -0.1))
    model = chain(extra=(scaling,))
    unlikely, likely = (
        Ladder(model, noise=0.01, prior=Prior({("loss scaling", "none"): chance})) for chance in (0.001, 0.95)
    )
    assert propose(unlikely) == (*(1,) * SITES, 1)
    assert propose(likely) == (*(1,) * SITES, 0)


def test_a_failure_without_a_place_may_be_the_missing_loss_scale():
    """What trains with loss scaling and not without it leaves the missing scale to blame."""
    model = chain(extra=(Site("loss scaling", ("dynamic", "none"), (0.0, -0.1)),))
    tried = [Tried((*(1,) * SITES, 0), 0.0), Tried((*(1,) * SITES, 1), None)]
    beliefs = Ladder(model, noise=0.01).believe(tried, np.random.default_rng(0))
    chances = dict(zip(beliefs.features.columns, beliefs.hazards.chance.tolist(), strict=True))
    # 1/35 against 1/100 for no reason at all, and a fiftieth of 1/35 for each of the sites that trained.
    assert chances[SITES, 1] > 0.5
    assert all(chances[site, 1] < 0.2 for site in range(SITES))


def test_features_know_the_worst_of_several_choices():
    """Everything low loses at most what each site's worse choice loses; a border that helps is not counted on."""
    features = Features((3, 1, 2), [(0, 2), (0, 1)])
    weights = np.array([0.5, 0.2, 0.3, -0.1, 0.4])
    assert features.most_lost(weights) == pytest.approx(0.5 + 0.3 + 0.4)
    assert features.lesser(weights).tolist() == [0.3, 0.0]


def test_pending_trials_are_taken_to_train_as_the_model_expects():
    """Several workers: what still runs counts as trained with its expected loss, in the front alone."""
    rng = np.random.default_rng(4)
    gains = rng.lognormal(size=16).tolist()
    model = CostModel(1.0, tuple(Site(f"s{n}", LOW[:2], (gain, 0.0)) for n, gain in enumerate(gains)))
    lost = rng.exponential(size=16)
    done = [Tried(c, float(lost @ c)) for c in rng.integers(0, 2, (12, 16)).tolist() for c in (tuple(c),)]
    ladder = Ladder(model, noise=0.05)
    first = propose(ladder, done)
    pending = [*done, Tried(first, None, pending=True)]
    alone, beside = (ladder.believe(tried, np.random.default_rng(0)) for tried in (done, pending))
    assert beside.weights.tolist() == alone.weights.tolist()
    assert beside.hazards.chance.tolist() == alone.hazards.chance.tolist()
    expected = float(alone.quality_lost(np.array([first]))[0])
    known = ladder._known(pending, beside)
    assert known[-1] == (pytest.approx(model.speedup(first)), pytest.approx(expected))
    assert len(known) == len(done) + 1


def test_workers_get_different_proposals_that_all_add_to_the_front():
    """Four proposals at once, none of them over, are four policies, none of which makes another one needless."""
    rng = np.random.default_rng(4)
    gains = rng.lognormal(size=16).tolist()
    model = CostModel(1.0, tuple(Site(f"s{n}", LOW[:2], (gain, 0.0)) for n, gain in enumerate(gains)))
    lost = rng.exponential(size=16)
    tried = [Tried(c, float(lost @ c)) for c in rng.integers(0, 2, (20, 16)).tolist() for c in (tuple(c),)]
    ladder = Ladder(model, noise=0.05)
    for _ in range(4):
        tried.append(Tried(propose(ladder, tried), None, pending=True))
    together = [trial.choices for trial in tried[-4:]]
    beliefs = ladder.believe(tried, np.random.default_rng(0))
    places = [(model.speedup(c), float(beliefs.quality_lost(np.array([c]))[0])) for c in together]
    assert len(set(together)) == 4
    assert not any(a != b and b[0] >= a[0] and b[1] <= a[1] for a in places for b in places)
