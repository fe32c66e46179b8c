import numpy as np
import pytest

from halfwise.policies.errors import InputError
from halfwise.search.propose import Border, CostModel, Site

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
