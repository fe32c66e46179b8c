"""The smallest set of sites that cures: by names, by halves, and how many tests it takes."""

from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.propose.cure import Verdict, find_cure

SITES = tuple("abcdefgh")


class Run:
    """A run that is cured by having all hazards in float32; what it blames comes from `names`."""

    def __init__(self, hazards, names=lambda left: ()):
        self.hazards, self.names, self.asked = set(hazards), names, []

    def __call__(self, chosen):
        """The test."""
        self.asked.append(chosen)
        left = self.hazards - set(chosen)
        return Verdict(not left, tuple(self.names(left)) if left else ())


def test_a_named_hazard_takes_one_test():
    """One site that the failing run names and that cures: nothing else is trained."""
    run = Run("d")
    assert find_cure(SITES, run, ("d",)) == ("d",)
    assert run.asked == [("d",)]


def test_hazards_that_name_each_other_are_followed():
    """A run with the first hazard cured names the second: three tests tell that both are needed."""
    run = Run("bg", names=sorted)
    assert find_cure(SITES, run, ("b",)) == ("b", "g")
    assert run.asked == [("b",), ("b", "g"), ("g",)]


def test_what_was_blamed_wrongly_is_left_out_again():
    """Of two blamed sites of which one does nothing, only the other stays."""
    run = Run("e")
    assert find_cure(SITES, run, ("a", "e")) == ("e",)


def test_without_a_cure_there_is_none():
    """Where float32 everywhere does not train either, no set of sites is called a cure."""
    run = Run("z")
    assert find_cure(SITES, run) is None
    assert run.asked == [SITES]


def test_names_that_are_no_low_sites_are_passed_over():
    """A blamed layer that is float32 already is no candidate."""
    run = Run("c")
    assert find_cure(SITES, run, ("elsewhere",)) == ("c",)
    assert not any("elsewhere" in chosen for chosen in run.asked)


@given(st.sets(st.sampled_from(SITES), min_size=1), st.lists(st.sampled_from((*SITES, "x"))), st.data())
def test_the_cure_is_what_is_needed_whoever_is_blamed(hazards, blamed, data):
    """For any hazards and any blame, right or wrong, the cure is the hazards, and no set is trained twice."""
    names = st.lists(st.sampled_from((*SITES, "x")), max_size=2)
    run = Run(hazards, names=lambda left: data.draw(names))
    assert find_cure(SITES, run, blamed) == tuple(sorted(hazards))
    assert len(run.asked) == len(set(run.asked))
