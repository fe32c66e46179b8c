"""What training a trial longer came to, kept beside the trial."""

from pathlib import Path

import pytest

from halfwise.policies.errors import HalfwiseError

from .fake_search import asked, start
from .test_site_advisor import NAMES, low_sites, open_search


def test_what_longer_training_found_stands_beside_the_trial(tmp_path: Path) -> None:
    """A trial that was trained longer has its new quality, or none any more, in the next process too."""
    search = start(tmp_path)
    first, second = asked(search).number, None
    search.tell(first, 0.8, 100.0)
    second = asked(search).number
    search.tell(second, 0.7, 120.0, quality_lost=0.1)
    search.tell_longer(first, 0.9)
    search.tell_longer_infeasible(second, "non-finite at step 55", blamed=["body.1"])
    for opened in (search, start(tmp_path)):
        one, other = opened.finished()
        assert (one.status, one.quality, one.speed) == ("trained", 0.9, 100.0)
        assert (other.status, other.quality, other.cause) == ("infeasible", None, "non-finite at step 55")


def test_only_what_trained_can_be_trained_longer(tmp_path: Path) -> None:
    """A trial that is not there, or did not train, is refused, and so is a quality that is no number."""
    search = start(tmp_path)
    first = asked(search)
    search.tell(first.number, 0.8, 100.0)
    second = asked(search)
    search.tell_infeasible(second.number, "non-finite at step 0")
    for number in (second.number, 17):
        with pytest.raises(HalfwiseError, match=f"no trial {number} has trained"):
            search.tell_longer(number, 0.9)
    with pytest.raises(HalfwiseError, match="quality must be a finite number"):
        search.tell_longer(first.number, float("nan"))


def test_the_ladder_learns_from_the_longest_training(tmp_path: Path) -> None:
    """Everything low trains at first; when longer training fails at a site, the next proposal keeps it float32."""
    search = open_search(tmp_path)
    first = asked(search)
    assert low_sites(first.policy) == set(NAMES)
    search.tell(first.number, 0.9, 100.0, quality_lost=0.0)
    settled = search.settled()
    assert settled is not None
    assert settled[0].digest == first.policy.digest
    assert settled[1].everything
    search.tell_longer_infeasible(first.number, "non-finite at step 70", blamed=["b"])
    for opened in (search, open_search(tmp_path)):
        assert opened.settled() is None
    assert low_sites(asked(search).policy) == {"a", "c"}


def test_beliefs_move_with_what_longer_training_loses(tmp_path: Path) -> None:
    """A loss that only a longer training shows changes what is believed; told the same again, nothing moves."""
    search = open_search(tmp_path)
    first = asked(search)
    search.tell(first.number, 0.9, 100.0, quality_lost=0.0)
    before, same = search.beliefs(), search.beliefs()
    search.tell_longer(first.number, 0.5, quality_lost=0.4)
    after = search.beliefs()
    assert before is not None
    assert same is not None
    assert after is not None
    assert same.moved(before) == 0
    assert after.moved(before) > 0.05
