import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.errors import InputError
from halfwise.search.propose import Border, CostModel, Site

from .models import cost_models

PAIR = CostModel(
    constant_s=1.0,
    sites=(
        Site("a", ("float32", "float16"), (4.0, 1.0)),
        Site("b", ("float32", "float16", "bfloat16"), (3.0, 2.0, 2.5)),
    ),
    borders=(Border(0, 1, ((0.0, 0.5, 0.6), (0.7, 0.0, 0.8))),),
)


@pytest.mark.parametrize(
    ("choices", "seconds"),
    [
        pytest.param((0, 0), 1 + 4 + 3, id="float32"),
        pytest.param((1, 1), 1 + 1 + 2, id="no-cast"),
        pytest.param((1, 0), 1 + 1 + 3 + 0.7, id="cast-up"),
        pytest.param((0, 2), 1 + 4 + 2.5 + 0.6, id="cast-down"),
    ],
)
def test_a_step_takes_its_sites_and_its_borders(choices, seconds):
    """The step time is the constant plus what each site takes plus the casts of each border."""
    assert PAIR.step_time_s(choices) == pytest.approx(seconds)
    assert PAIR.speedup(choices) == pytest.approx(8 / seconds)


def test_many_speedups_are_those_of_each():
    """Speed-ups of many policies at once equal those of each alone."""
    every = np.array([(a, b) for a in range(2) for b in range(3)])
    assert PAIR.speedups(every).tolist() == pytest.approx([PAIR.speedup(tuple(row)) for row in every.tolist()])


def test_names_lead_back_to_the_choices():
    """Choices by name read back to the same places."""
    assert PAIR.named((1, 2)) == {"a": "float16", "b": "bfloat16"}
    assert PAIR.placed({"b": "bfloat16", "a": "float16"}) == (1, 2)
    with pytest.raises(InputError, match="site 'a' must be one of float32, float16, but got 'bfloat16'"):
        PAIR.placed({"a": "bfloat16", "b": "float32"})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda: Site("a", ("float16",), (1.0,)), "first choice must be float32", id="no-float32"),
        pytest.param(lambda: Site("a", ("dynamic", "float16"), (1.0, 1.0)), "must be float32", id="low-first"),
        pytest.param(lambda: Site("a", ("float32", "float16"), (1.0,)), "needs its seconds", id="no-figure"),
        pytest.param(lambda: CostModel(0, (PAIR.sites[0],) * 2), "'a' occurs twice", id="twice"),
        pytest.param(lambda: CostModel(0, PAIR.sites, (Border(0, 1, ((0.0,),)),)), "2 x 3 figures", id="shape"),
        pytest.param(lambda: CostModel(0, PAIR.sites, (Border(0, 0, ((0.0,),)),)), "different sites", id="loop"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(make, words):
    """Sites without float32 or a figure, double names and borders of another shape are refused with the reason."""
    with pytest.raises(InputError, match=words):
        make()


@given(cost_models(), st.data())
def test_many_step_times_are_those_of_each(model: CostModel, data):
    """Step times of many policies at once equal those of each alone, with sites of different sizes too."""
    rows = [tuple(data.draw(st.integers(0, size - 1)) for size in model.sizes) for _ in range(3)]
    assert model.step_times_s(np.array(rows)).tolist() == pytest.approx([model.step_time_s(row) for row in rows])
    assert model.speedups(np.array([model.float32])).tolist() == [1.0]


@given(cost_models(regions=True), st.data())
def test_a_region_keeps_the_low_precision_that_most_of_its_sites_have(model: CostModel, data):
    """Brought to one low precision, choices are allowed, stay float32 where they were, and change nothing else."""
    choices = tuple(data.draw(st.integers(0, size - 1)) for size in model.sizes)
    found = model.one_low(choices)
    assert model.allowed(np.array([found])).all()
    assert model.allowed(np.array([choices])).tolist() == [found == choices]
    for region in model.regions:
        low = [choices[site] for site in region if choices[site]]
        kept = max((1, 2), key=low.count)
        # Of LOW, the second choice is float16 and the third bfloat16; not every site offers both.
        expected = [
            (min(kept, choice and kept) if model.sizes[site] > kept else 0) if len(set(low)) > 1 else choice
            for site, choice in ((site, choices[site]) for site in region)
        ]
        assert [found[site] for site in region] == expected
    alone = set(range(len(model.sites))) - {site for region in model.regions for site in region}
    assert all(found[site] == choices[site] for site in alone)


def test_a_site_of_other_choices_begins_with_the_safest():
    """A loss scaling is a site without low precisions: its first choice is what float32 trains with."""
    scaling = Site("loss scaling", ("dynamic", "none"), (0.0, -0.5))
    model = CostModel(2.0, (scaling,))
    assert scaling.low_places == ()
    assert model.speedup((1,)) == pytest.approx(2 / 1.5)
