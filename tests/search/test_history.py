from pathlib import Path

import pytest

from halfwise.policies.errors import InputError
from halfwise.search.history import read_history
from halfwise.search.propose import CostModel, Site, Tried

from .fake_search import asked
from .test_site_advisor import NAMES, open_search

COSTS = CostModel(1.0, tuple(Site(site, ("float32", "float16"), (1.0, 0.2)) for site in NAMES))


def test_the_history_is_what_the_searcher_saw(tmp_path: Path) -> None:
    """Read from the journal alone, trials have their choices, losses and blame by number; running ones pend."""
    search = open_search(tmp_path)
    first = asked(search)
    search.tell_infeasible(first.number, "non-finite at step 0", blamed=("b",))
    second = asked(search)
    search.tell(second.number, 0.9, 100.0, quality_lost=0.02)
    third = asked(search)
    history = read_history(tmp_path / "journal.log", COSTS)
    assert history[first.number] == Tried((1, 1, 1), None, frozenset({1}))
    assert history[second.number] == Tried((1, 0, 1), 0.02)
    assert history[third.number].pending
    assert len(history) == 3


def test_a_longer_training_replaces_what_the_shorter_one_found(tmp_path: Path) -> None:
    """The loss of a trial is that of its longest training."""
    search = open_search(tmp_path)
    first = asked(search)
    search.tell(first.number, 0.9, 100.0, quality_lost=0.02)
    search.tell_longer(first.number, 0.8, quality_lost=0.3)
    assert read_history(tmp_path / "journal.log", COSTS)[first.number].quality_lost == 0.3


def test_another_networks_sites_are_refused(tmp_path: Path) -> None:
    """A journal of a site that has no such choice is refused, and names the site."""
    search = open_search(tmp_path)
    search.tell(asked(search).number, 0.9, 100.0, quality_lost=0.0)
    sites = (Site("a", ("float32", "bfloat16"), (1.0, 0.5)), *COSTS.sites[1:])
    with pytest.raises(InputError, match="site 'a' must be one of float32, bfloat16, but got 'float16'"):
        read_history(tmp_path / "journal.log", CostModel(1.0, sites))
