import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.hypervolume import hypervolume
from halfwise.search.propose.front_gain import front_gain

PLACES = st.tuples(st.integers(0, 8).map(lambda n: n / 2), st.integers(-2, 8).map(float))


@given(st.lists(PLACES, max_size=6), st.lists(PLACES, min_size=1, max_size=4))
def test_a_gain_is_the_hypervolume_that_a_policy_adds(known, new):
    """Each gain is the hypervolume with the policy less the hypervolume without it."""
    speedups, lost = np.array(new, dtype=float).T
    before = hypervolume(known, (1.0, 5.0))
    added = [hypervolume([*known, place], (1.0, 5.0)) - before for place in new]
    assert front_gain(speedups, lost, known, 5.0).tolist() == pytest.approx(added)
