"""The truth of the zoo, by training: what a hazard does in float16, and that nothing else does it."""

from itertools import product

import pytest

from benchmarks.search.zoo.kinds import HAZARDS
from benchmarks.search.zoo.plan import plan_zoo, planted

# halfwise's own tolerance of quality; what float16 changes in a network without hazards is a tenth of it.
NOISE = 0.005
QUICK = {("masked_product", 1), ("positions", 1)}
CASES = [
    pytest.param(kind, seed, marks=() if (kind, seed) in QUICK else pytest.mark.full)
    for kind, seed in product(HAZARDS, (1, 2))
]


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_a_hazard_alone_is_what_must_stay_float32(train, kind: str, seed: int):
    """In float32 the network learns, also with all else low; with the hazard alone low it fails or learns less."""
    plan = planted(kind)
    hazard = set(plan.truth.hazards)
    float32 = train(plan, seed=seed)
    others_low = train(plan, set(plan.truth.groups) - hazard, seed)
    alone_low = train(plan, hazard, seed)
    assert float32.quality > 0.93
    assert abs(others_low.quality - float32.quality) < NOISE
    if HAZARDS[kind].graded:
        assert alone_low.status == "trained"
        assert alone_low.quality < float32.quality - 10 * NOISE
    else:
        assert alone_low.cause == "non-finite at step 0"
        assert alone_low.first_non_finite.layer in hazard


# Seven trials: on a busy machine each takes most of a minute.
@pytest.mark.timeout(900)
@pytest.mark.full
@pytest.mark.parametrize(("shape", "seed"), [("residual", 1), ("branched", 2), ("chain", 1)])
def test_a_drawn_network_trains_with_its_hazards_in_float32_and_not_without(train, shape, seed: int):
    """20 groups with 4 hazards: all low but the hazards loses nothing, all low does, and so does each hazard."""
    plan = plan_zoo(seed, 20, 4, shape)
    hazards, groups = set(plan.truth.hazards), set(plan.truth.groups)
    float32 = train(plan)
    assert float32.quality > 0.8
    assert abs(train(plan, groups - hazards).quality - float32.quality) < NOISE
    for low in (groups, *({hazard} for hazard in hazards)):
        outcome = train(plan, low)
        assert outcome.quality is None or outcome.quality < float32.quality - 5 * NOISE
