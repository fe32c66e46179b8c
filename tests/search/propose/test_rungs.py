from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings

from halfwise.search.propose import rungs as module
from halfwise.search.propose.additive_loss import Features
from halfwise.search.propose.cost_model import Border, CostModel, Site
from halfwise.search.propose.rungs import Rungs

from .models import LOW, cost_models


def beliefs(features: Features, seed: int = 0):
    """Weights, chances and the worst loss, drawn at random."""
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(0, 1.5, features.all)
    weights[features.single :] = rng.choice([-0.2, 0.0, 0.3], features.all - features.single)
    return weights, rng.uniform(0.001, 0.2, features.single), features.most_lost(weights)


def crossing(sites: int, every: int) -> tuple[CostModel, Features]:
    """Sites of three choices in a chain, and one of so many of the other possible borders."""
    gains = np.random.default_rng(2).lognormal(0, 1, sites).tolist()
    pairs = [(n, n + 1) for n in range(sites - 1)]
    pairs += [pair for n, pair in enumerate(combinations(range(sites), 2)) if n % every == 0 and pair not in pairs]
    casts = tuple(tuple(0.02 * (a != b) for b in range(3)) for a in range(3))
    model = CostModel(
        1.0,
        tuple(Site(f"s{n}", LOW, (gain, 0.0, 0.1 * gain)) for n, gain in enumerate(gains)),
        tuple(Border(a, b, casts) for a, b in pairs),
        regions=((0, 3, 4), (1, 2)),
    )
    return model, Features(model.sizes, pairs)


def test_an_integer_program_gives_the_candidates_of_elimination(monkeypatch):
    """Taken for too dense, a network gets the same exact candidates, if all weightings have their turn at once."""
    model, features = crossing(9, 5)
    expected = Rungs(model, features).candidates(*beliefs(features))
    monkeypatch.setattr(module, "_LIGHT", 0)
    monkeypatch.setattr(module, "_PRODUCTS", 10**6)
    assert Rungs(model, features).candidates(*beliefs(features)).tolist() == expected.tolist()
    assert model.allowed(expected).all()


def test_a_dense_network_gets_few_weightings_a_turn():
    """Where every site borders on every other one, each turn has a few candidates, and another turn has others."""
    model, features = crossing(20, 1)
    rungs = Rungs(model, features)
    found = [set(map(tuple, rungs.candidates(*beliefs(features), turn).tolist())) for turn in range(2)]
    assert all(0 < len(candidates) <= 16 for candidates in found)
    assert len(found[0] | found[1]) > max(map(len, found))


def test_all_weightings_have_their_turn():
    """In a dense network, successive turns lead through all weightings."""
    rungs = Rungs(*crossing(20, 1))
    turns = [rungs._weightings(turn).tolist() for turn in range(120)]
    assert {place for turn in turns for place in turn} == set(range(120))
    assert {len(turn) for turn in turns} == {rungs._at_once}


@settings(max_examples=30)
@given(cost_models(regions=True))
def test_small_spaces_are_taken_whole(model: CostModel):
    """Of a small space all policies are candidates that MindSpore can hold."""
    features = Features(model.sizes, [(border.first, border.second) for border in model.borders])
    found = Rungs(model, features).candidates(*beliefs(features))
    every = list(product(*map(range, model.sizes)))
    assert {tuple(row) for row in found.tolist()} == {row for row in every if model.one_low(row) == row}


@pytest.mark.parametrize("tried", ["none", "rungs", "all"])
def test_neighbours_come_when_all_rungs_were_tried(tried):
    """Untried rungs come first, then what differs from them in one site; never what is no faster than float32."""
    gains = np.random.default_rng(3).lognormal(0, 1, 14).tolist()
    slow = Site("slow", LOW[:2], (0.0, 99.0))
    model = CostModel(1.0, (*(Site(f"s{n}", LOW[:2], (gain, 0.0)) for n, gain in enumerate(gains)), slow))
    features = Features(model.sizes, [])
    rungs = Rungs(model, features)
    found = rungs.candidates(*beliefs(features))
    faster = {row for row in map(tuple, found.tolist()) if any(row)}
    near = {tuple(row) for row in rungs.around(found).tolist()} - set(map(tuple, found.tolist()))
    near = {row for row in near if model.speedup(row) > 1}
    seen, left = {"none": ((), faster), "rungs": (faster, near), "all": (faster | near, set())}[tried]
    untried = [tuple(row) for row in rungs.untried(found, list(seen)).tolist()]
    assert sorted(untried) == sorted(left)


def test_neighbours_keep_to_one_low_precision_in_each_region():
    """What differs from a rung in one site is tried only where a policy can say it."""
    model, features = crossing(9, 5)
    rungs = Rungs(model, features)
    found = rungs.candidates(*beliefs(features))
    around = rungs.around(found)
    untried = rungs.untried(found, [tuple(row) for row in found.tolist()])
    assert not model.allowed(around).all()
    assert len(untried) > 0
    assert model.allowed(untried).all()
