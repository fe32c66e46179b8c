"""Which networks the zoo draws; nothing is built or trained."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.search.zoo.kinds import BENIGN, COARSE_TARGET, HAZARDS, HEAD, JOIN, SHAPES, SLOWER_LOW, STEM, Shape
from benchmarks.search.zoo.plan import Plan, most_hazards, plan_zoo, planted
from benchmarks.search.zoo.references import read_name, reference_of
from halfwise.policies import InputError


@st.composite
def drawn(draw) -> tuple[Plan, int, int, Shape]:
    """A plan, and the groups, hazards and shape that were asked for."""
    shape = draw(st.sampled_from(SHAPES))
    groups = draw(st.integers(5 if shape == "branched" else 4, 60))
    hazards = draw(st.integers(0, most_hazards(groups, shape)))
    return plan_zoo(draw(st.integers(0, 1 << 20)), groups, hazards, shape), groups, hazards, shape


@given(drawn())
def test_a_plan_is_as_asked(found):
    """Groups, hazards and slower groups are as many as asked, and everything else is benign and of the shape."""
    plan, groups, hazards, shape = found
    assert len(plan.kinds) == len(plan.truth.groups) == groups
    assert len(plan.truth.hazards) == hazards
    assert len(plan.truth.slower_low) == groups // 10
    assert set(plan.kinds) <= {STEM, JOIN, HEAD, *HAZARDS, *SLOWER_LOW, *BENIGN[shape]}
    assert plan.kinds[0] == STEM
    assert plan.kinds[-1] in (HEAD, COARSE_TARGET)


@given(drawn())
def test_stages_hold_every_group_once_in_order(found):
    """The stages are single groups, and in a branched network also two side by side before a join."""
    plan, groups, _, shape = found
    assert [place for stage in plan.stages for place in stage] == list(range(groups))
    assert {len(stage) for stage in plan.stages} <= ({1, 3} if shape == "branched" else {1})
    joined = [stage[2] for stage in plan.stages if len(stage) == 3]
    assert joined == [place for place, kind in enumerate(plan.kinds) if kind == JOIN]
    assert bool(joined) == (shape == "branched")


@given(drawn())
def test_no_kind_of_hazard_comes_twice_before_all_have_come(found):
    """Kinds are drawn evenly; there is one head, so a coarse target comes at most once, and only there."""
    plan, _, hazards, _ = found
    counts = Counter(hazard.kind for hazard in plan.truth.hazards.values())
    without_head = [counts[kind] for kind in HAZARDS if kind != COARSE_TARGET]
    assert max(without_head) - min(without_head) <= 1
    assert counts[COARSE_TARGET] == (plan.kinds[-1] == COARSE_TARGET)
    if hazards >= len(HAZARDS):
        assert set(counts) == set(HAZARDS)


@given(drawn())
def test_a_plan_is_found_again_by_its_name(found):
    """The name in the reference draws the same network once more."""
    plan = found[0]
    again = read_name(reference_of(plan).partition(":")[2])
    assert again is not None
    assert again() == plan


def test_seeds_draw_different_places():
    """Hazards stand all over the network, over 60 seeds at every place between the ends."""
    places = {path for seed in range(60) for path in plan_zoo(seed, 10, 3).truth.hazards}
    assert places >= {f"groups.{place}" for place in range(1, 9)}


@pytest.mark.parametrize("kind", HAZARDS)
def test_a_planted_network_has_its_hazard_alone(kind):
    """One group of four is a hazard, and it is of the kind that was asked for."""
    plan = planted(kind, seed=3)
    assert [hazard.kind for hazard in plan.truth.hazards.values()] == [kind]
    assert read_name(plan.name)() == plan  # pyright: ignore[reportOptionalCall]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 3), "4 to 60 groups, but got 3"),
        ((0, 61), "4 to 60 groups, but got 61"),
        ((0, 4, 1, "branched"), "5 to 60 groups, but got 4"),
        ((0, 4, 3), "room for 0 to 2 hazards, but got 3"),
        ((0, 20, -1), "room for 0 to 16 hazards, but got -1"),
        ((-1,), "0 or more, but got -1"),
        ((0, 20, 3, "ring"), "residual, branched, chain, but got 'ring'"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_can(arguments, words):
    """The error names the value and what is allowed."""
    with pytest.raises(InputError, match=words):
        plan_zoo(*arguments)


def test_an_unknown_kind_is_refused_with_a_near_miss():
    """A mistyped kind of hazard is answered with the one that was meant."""
    with pytest.raises(InputError, match="masked_product"):
        planted("masked_produkt")
