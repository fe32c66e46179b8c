"""Delta debugging against brute force, and how many questions it asks."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.propose.delta_debugging import smallest

SIZES = st.integers(1, 9)


def subsets(items):
    """Every part, the smallest first."""
    return [set(part) for size in range(len(items) + 1) for part in combinations(items, size)]


@given(SIZES, st.data())
def test_what_is_needed_together_is_found_exactly(size, data):
    """Where just the sets that hold some items work, these are found, and brute force finds no smaller one."""
    items = list(range(size))
    needed = data.draw(st.sets(st.sampled_from(items)))
    found = smallest(items, lambda part: needed <= set(part))
    assert found == tuple(sorted(needed))
    assert set(found) == next(part for part in subsets(items) if needed <= part)


@given(SIZES, st.randoms(use_true_random=False))
def test_whatever_works_no_item_can_be_left_out(size, random):
    """With any answers at all, the part found works, no single item can go, and no question comes twice."""
    items = list(range(size))
    answers = {frozenset(part): random.random() < 0.3 for part in subsets(items)}
    answers[frozenset(items)] = True
    asked = []

    def works(part):
        asked.append(part)
        return answers[frozenset(part)]

    found = smallest(items, works)
    assert answers[frozenset(found)]
    assert not any(answers[frozenset(found) - {item}] for item in found)
    assert len(asked) == len(set(asked)) <= size**2 + 3 * size


@pytest.mark.parametrize("place", [0, 77, 127])
def test_one_item_of_many_is_found_in_about_twice_the_logarithm(place):
    """A single item of 128 takes at most 2 log2(128) questions beside the one for none at all."""
    asked = []

    def works(part):
        asked.append(part)
        return place in part

    assert smallest(range(128), works) == (place,)
    assert len(asked) <= 1 + 2 * 7


def test_nothing_at_all_may_do():
    """Where the empty part works, one question is enough."""
    asked = []

    def works(part):
        asked.append(part)
        return True

    assert smallest("abc", works) == ()
    assert asked == [()]
