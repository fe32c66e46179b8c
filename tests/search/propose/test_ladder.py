from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfwise.policies.errors import InputError
from halfwise.search.hypervolume import hypervolume
from halfwise.search.propose import Border, CostModel, Site, Tried
from halfwise.search.propose.ladder import Ladder
from halfwise.search.propose.prior import Prior

LOW = ("float32", "float16")


def chain(gains, cast=0.1, constant=1.0):
    """A chain of sites that save so many seconds in float16, with casts between different neighbours."""
    sites = tuple(Site(f"s{place}", LOW, (gain, 0.0)) for place, gain in enumerate(gains))
    borders = tuple(Border(n, n + 1, ((0.0, cast), (cast, 0.0))) for n in range(len(sites) - 1))
    return CostModel(constant, sites, borders)


def propose(ladder, tried):
    """The next proposal, with the draws of that many trials."""
    return ladder.propose(tried, np.random.default_rng(len(tried)))


def run(ladder, outcome, trials):
    """Trials of a ladder on a problem."""
    tried = []
    for _ in range(trials):
        choices = propose(ladder, tried)
        if choices is None:
            break
        tried.append(outcome(choices))
    return tried


def test_the_first_policy_is_the_fastest():
    """Where nothing is known, everything goes low first, but for a site that is slower low."""
    costs = CostModel(1.0, (*chain([1.0, 1.0]).sites, Site("slow", LOW, (0.1, 0.5))))
    assert propose(Ladder(costs, noise=0.01), []) == (1, 1, 0)


@pytest.mark.parametrize("sites", [6, 20], ids=["small", "large"])
def test_a_named_hazard_stays_float32_and_nothing_else(sites):
    """After a failure that names its site, only that site is kept in float32."""
    tried = [Tried((1,) * sites, None, frozenset({3}))]
    assert propose(Ladder(chain([1.0] * sites), noise=0.01), tried) == tuple(int(n != 3) for n in range(sites))


def test_a_likely_hazard_is_avoided_from_the_start():
    """A site that the prior calls a hazard is float32 in the first proposal, and tried later all the same."""
    ladder = Ladder(chain([1.0] * 6), noise=0.01, prior=Prior({("s2", "float16"): 0.9}))
    tried = run(ladder, lambda choices: Tried(choices, 0.0), 8)
    assert tried[0].choices == (1, 1, 0, 1, 1, 1)
    assert (1,) * 6 in [trial.choices for trial in tried]


@pytest.mark.parametrize("sites", [7, 20], ids=["small", "large"])
def test_once_only_noise_is_lost_the_next_trial_is_a_faster_one(sites):
    """A site that hardly saves time, and is likely a hazard, is tried low before policies that are slower."""
    costs = chain([1.0] * (sites - 1) + [0.05], cast=0.01)
    ladder = Ladder(costs, noise=0.01, prior=Prior({(f"s{sites - 1}", "float16"): 0.95, ("s0", "float16"): 0.4}))
    first = (*(1,) * (sites - 1), 0)
    assert propose(ladder, [Tried((0,) * sites, 0.0), Tried(first, 0.009)]) == (1,) * sites


def test_one_trial_that_trains_outweighs_the_surest_rule():
    """A site that rules called a hazard for sure is more likely none, once a policy with it low has trained."""
    ladder = Ladder(chain([1.0] * 4), noise=0.01, prior=Prior({("s2", "float16"): 0.99}))
    before = ladder.believe([], np.random.default_rng(0)).hazards.chance[2]
    after = ladder.believe([Tried((0, 0, 1, 0), 0.2)], np.random.default_rng(0)).hazards.chance[2]
    assert before > 0.85
    assert after < 0.2


def test_a_hazard_that_was_named_again_and_again_is_no_more_tried():
    """Each diagnosis that names a site makes it less likely that it is cured the next time."""
    ladder = Ladder(chain([1.0] * 6), noise=0.01)
    chances = []
    for named in range(1, 5):
        failed = [(1, *(int(n != place) for n in range(5))) for place in range(named)]
        tried = [Tried((0, 1, 1, 1, 1, 1), 0.0), *(Tried(each, None, frozenset({0})) for each in failed)]
        beliefs = ladder.believe(tried, np.random.default_rng(0))
        chances.append(float(beliefs.trains(np.ones((1, 6), dtype=int))[0]))
    assert chances == sorted(chances, reverse=True)
    assert chances[-1] < chances[0] / 2


def test_a_certainty_is_no_prior():
    """A chance of 1 would be a ban, and is refused."""
    with pytest.raises(InputError, match="s2 in float16 must lie inside"):
        Prior({("s2", "float16"): 1.0})


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_every_policy_faster_than_float32_is_proposed_once(seed):
    """Whatever comes of them, every policy of a small space but float32 itself is proposed once, then none."""
    rng = np.random.default_rng(seed)
    ladder = Ladder(chain([1.0, 2.0, 0.5]), noise=0.1, seed=seed)
    tried = run(ladder, lambda choices: Tried(choices, None if rng.random() < 0.3 else rng.normal()), 20)
    assert sorted(trial.choices for trial in tried) == sorted(product((0, 1), repeat=3))[1:]


def test_a_stopped_ladder_goes_on_as_if_it_had_not_been():
    """A new ladder with the history of an old one proposes what the old one would have."""
    costs = chain(np.random.default_rng(5).lognormal(size=16))
    lost = np.random.default_rng(6).exponential(size=16)
    whole = run(Ladder(costs, noise=0.1, seed=3), lambda c: Tried(c, float(lost @ c)), 12)
    for end in (1, 5, 11):
        assert propose(Ladder(costs, noise=0.1, seed=3), whole[:end]) == whole[end].choices


def test_running_trials_are_not_proposed_again():
    """While trials run, others are proposed."""
    ladder = Ladder(chain([1.0] * 5), noise=0.01)
    pending = [Tried((1,) * 5, None, pending=True)]
    second = propose(ladder, pending)
    assert second not in {None, (1,) * 5}


def test_a_graded_front_is_found():
    """On a chain of 14 sites that lose quality gradually, 40 trials cover at least 95% of the exact front."""
    rng = np.random.default_rng(11)
    costs, lost = chain(rng.lognormal(size=14)), rng.lognormal(0, 1.5, 14)
    lost /= lost.sum()
    every = np.array(list(product((0, 1), repeat=14)))
    exact = hypervolume(zip(costs.speedups(every).tolist(), (every @ lost).tolist(), strict=True), (1.0, 1.0))
    tried = run(Ladder(costs, noise=0.02), lambda c: Tried(c, float(lost @ c) + 0.02 * rng.standard_normal()), 40)
    found = [(costs.speedup(trial.choices), float(lost @ trial.choices)) for trial in tried]
    assert hypervolume(found, (1.0, 1.0)) >= 0.95 * exact


def test_one_site_alone_is_a_space():
    """A space of one site is searched: low, then nothing faster than float32 is left."""
    tried = run(Ladder(chain([1.0]), noise=0.01), lambda choices: Tried(choices, 0.0), 5)
    assert [trial.choices for trial in tried] == [(1,)]


def test_where_nothing_is_faster_nothing_is_proposed():
    """On a device where every site is slower low, the ladder has nothing to try."""
    assert propose(Ladder(chain([-1.0] * 3, constant=5.0), noise=0.01), []) is None


def test_where_nothing_may_go_low_all_is_tried_and_the_search_ends():
    """If every low policy fails without a place, each is tried once, and nothing is left."""
    tried = run(Ladder(chain([1.0] * 3), noise=0.01), lambda c: Tried(c, None), 20)
    assert len({trial.choices for trial in tried}) == len(tried) == 7


def test_a_dense_network_is_searched():
    """Where every site borders on every other one, a named hazard stays float32 and the rest goes low."""
    sites = tuple(Site(f"s{place}", LOW, (1.0, 0.0)) for place in range(24))
    borders = tuple(Border(a, b, ((0.0, 0.01), (0.01, 0.0))) for a in range(24) for b in range(a + 1, 24))
    ladder = Ladder(CostModel(1.0, sites, borders), noise=0.01)
    assert propose(ladder, []) == (1,) * 24
    tried = [Tried((1,) * 24, None, frozenset({7}))]
    assert propose(ladder, tried) == tuple(int(place != 7) for place in range(24))
