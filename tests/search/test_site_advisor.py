from pathlib import Path

import pytest

from halfwise.policies.errors import InputError
from halfwise.policies.loss_scaling import NoLossScaling
from halfwise.search.advisors import SiteAdvisor
from halfwise.search.propose import CostModel, Site
from halfwise.search.propose.prior import Prior
from halfwise.search.proposers import PROPOSERS, Knowledge, make_proposer
from halfwise.search.site_space import SiteGroup, SiteSpace
from halfwise.search.study import Search
from halfwise.search.told import Proposal

from .fake_search import asked, open_study

NAMES = ("a", "b", "c")


def site_advisor(name: str = "ladder") -> SiteAdvisor:
    """A searcher over three sites, of which b is best left in float32."""
    space = SiteSpace(
        tuple(SiteGroup(site, (site,), None, ("MatMul",), ("float32", "float16")) for site in NAMES),
        "float16",
        NoLossScaling(),
        "graph",
    )
    costs = CostModel(1.0, tuple(Site(site, ("float32", "float16"), (1.0, 0.2)) for site in NAMES))
    known = Knowledge(costs, 0.01, 0.05, Prior({}))
    return SiteAdvisor(name, make_proposer(name, known, seed=1), space, known, seed=1)


def open_search(folder: Path, name: str = "ladder") -> Search:
    """A study of these sites."""
    return open_study(folder, site_advisor(name))


def low_sites(policy) -> set[str]:
    """The layers that a policy of this space lowers."""
    return {site for site in NAMES if policy.layers.get(site, policy.default) == "float16"}


def test_a_blamed_site_is_learnt_through_the_journal(tmp_path: Path) -> None:
    """Everything low comes first; when its failure names a site, it alone stays float32, after a restart too."""
    search = open_search(tmp_path)
    first = asked(search)
    assert low_sites(first.policy) == set(NAMES)
    search.tell_infeasible(first.number, "non-finite at step 0", blamed=("b",))
    assert low_sites(asked(open_search(tmp_path)).policy) == {"a", "c"}


def test_the_quality_lost_is_what_a_proposer_learns_from(tmp_path: Path) -> None:
    """A trial that is told without its quality lost counts as one that did not train; float32 is known anyway."""
    search = open_search(tmp_path, "exhaustive")
    seen = []
    while (proposal := search.ask()) is not None:
        assert isinstance(proposal, Proposal)
        seen.append(low_sites(proposal.policy))
        search.tell(proposal.number, 0.9, 100.0, quality_lost=0.1)
    assert len(seen) == 7, "eight policies less float32"
    assert seen[0] == set(NAMES)
    assert set() not in seen


@pytest.mark.parametrize("name", PROPOSERS)
def test_every_proposer_goes_on_where_it_stood(tmp_path: Path, name: str) -> None:
    """Reopened after every trial, each searcher proposes what it does in one piece."""
    proposals: list[list[str]] = []
    for folder, reopen in (("whole", False), ("reopened", True)):
        (tmp_path / folder).mkdir()
        search, texts = open_search(tmp_path / folder, name), []
        for number in range(4):
            proposal = asked(search)
            texts.append(str(proposal.policy))
            lost = 0.2 if "b" in low_sites(proposal.policy) else 0.0
            search.tell(proposal.number, 0.9 - lost, 100.0 + number, quality_lost=lost)
            search = open_search(tmp_path / folder, name) if reopen else search
        proposals.append(texts)
    assert proposals[0] == proposals[1]


def test_an_unknown_searcher_is_refused_by_name() -> None:
    """A name that no searcher has is refused with those that there are."""
    with pytest.raises(InputError, match=r"unknown sampler 'lader'.*ladder"):
        make_proposer("lader", Knowledge(CostModel(1.0, ()), 0.01, 0.05, Prior({})), seed=1)
