"""A search that starts from an earlier study: what goes over, what is said, what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from site_study import ALLOWED, NOISE, SiteStudy, prices_of, site_study, space_of, survey_of

from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.known_sites import KnownSites, history_of, keep_sites, known_sites
from halfwise.experiments.progress import Lines
from halfwise.experiments.warm_start import Newcomer, warm_started
from halfwise.policies.errors import InputError
from halfwise.search.advisors import SiteAdvisor
from halfwise.search.journal import open_journal
from halfwise.search.propose.prior import Prior
from halfwise.search.proposers import Knowledge, make_proposer
from halfwise.search.site_space import SiteGroup, SiteSpace

LOSSES = {"a": 0.0, "b": None, "c": 0.004, "d": 0.02}


@pytest.fixture
def first(tmp_path: Path) -> SiteStudy:
    """An earlier study of four layers, of which b ruins training."""
    return site_study(tmp_path, "first", LOSSES, 4)


def started(
    home: Path, layers: str, noise: float = NOISE, space: SiteSpace | None = None, metric: str = "accuracy"
) -> tuple[Knowledge, list[str]]:
    """What a study of these layers knows when it is started from the first one, and what was said."""
    known = Knowledge(prices_of(layers).costs, noise, ALLOWED, Prior({}))
    newcomer = Newcomer(space or space_of(layers), "w", metric)
    said: list[str] = []
    return warm_started(known, "first", StudyFolder(home / "second"), newcomer, Lines(said.append)), said


def test_the_same_network_takes_the_trials_over(first: SiteStudy):
    """All trials go over, with losses in units of the new noise; the prior stays the new study's."""
    known, said = started(first.folder.path.parent, "abcd", noise=2 * NOISE)
    tried = history_of(first.folder, known_sites(first.folder))
    assert [each.choices for each in known.earlier] == [each.choices for each in tried.values()]
    assert known.earlier[1].quality_lost == pytest.approx(2 * 0.024)
    assert known.earlier[0].blamed == {1}
    assert known.prior == Prior({})
    assert said == ["4 of 4 sites known from first"]


def test_a_warm_search_leaves_out_the_known_hazard_at_once(first: SiteStudy, tmp_path: Path):
    """The first proposal of the new study keeps b in float32, and trials of the old one may be tried again."""
    known, _ = started(tmp_path, "abcd")
    second = SiteStudy(StudyFolder(tmp_path / "second"), LOSSES)
    advisor = SiteAdvisor("ladder", make_proposer("ladder", known, 1), second.space, known, 1)
    second.search = second.search.create(open_journal(tmp_path / "warm.log"), "", advisor, "maximize", ())
    proposals = second.try_policies(3)
    assert all("b" not in second.low(proposal.policy) for proposal in proposals)
    assert {(1, 0, 1, 0)} <= {
        tuple(map(int, (layer in second.low(p.policy) for layer in "abcd"))) for p in proposals
    }
    assert advisor.terms()["warm start"] == ["first"]


def test_another_network_takes_over_what_is_shared(first: SiteStudy):
    """Of a network with some of the blocks, chances and emphasis go over by name, and new sites are named."""
    known, said = started(first.folder.path.parent, "bdx")
    assert known.earlier == ()
    assert said == ["2 of 3 sites known from first; new: x"]
    assert known.prior.chances["b", "float16"] > 0.3
    assert known.prior.chances["d", "float16"] < 0.03
    assert ("x", "float16") not in known.prior.chances
    assert known.prior.emphasis["d", "float16"] > 1


def test_many_new_sites_are_counted(first: SiteStudy):
    """Of more than five new sites, five are named and the rest counted."""
    _, said = started(first.folder.path.parent, "aefghijk")
    assert said == ["1 of 8 sites known from first; new: e, f, g, h, i and 2 more"]


def test_a_study_that_goes_on_keeps_what_it_was_given(first: SiteStudy, tmp_path: Path):
    """Once the new study has begun, later trials of the earlier one change nothing in it."""
    known, _ = started(tmp_path, "abcd")
    second = StudyFolder(tmp_path / "second")
    second.create()
    advisor = SiteAdvisor("ladder", make_proposer("ladder", known, 1), space_of("abcd"), known, 1)
    kept = known_sites(first.folder)
    keep_sites(KnownSites.of(advisor, kept.survey, kept.row, 0.9), second)
    first.try_policies(20)
    again, said = started(tmp_path, "abcd")
    assert again.earlier == known.earlier
    assert said == []


def test_trials_of_an_earlier_warm_start_go_over_too(first: SiteStudy, tmp_path: Path):
    """A third study that starts from the second one learns what the first one taught that one."""
    known, _ = started(tmp_path, "abcd")
    second = SiteStudy(StudyFolder(tmp_path / "second"), LOSSES)
    keep_sites(known_sites(second.folder).model_copy(update={"earlier": known.earlier}), second.folder)
    said: list[str] = []
    third = warm_started(
        replace(known, earlier=(), warm_start=None),
        "second",
        StudyFolder(tmp_path / "third"),
        Newcomer(second.space, "w", "accuracy"),
        Lines(said.append),
    )
    assert third.earlier == known.earlier


def test_unlike_studies_are_refused_with_the_reason(first: SiteStudy):
    """Another metric, other precisions, no site in common, or no such study: each refusal says what and where."""
    home = first.folder.path.parent
    other = SiteSpace((SiteGroup("a", ("a",), None, ("MatMul",), ("float32", "bfloat16")),), "bfloat16",
                      space_of("a").loss_scaling, "graph")  # fmt: skip
    with pytest.raises(InputError, match="it measured accuracy, and this one measures error"):
        started(home, "abcd", metric="error")
    with pytest.raises(InputError, match="it searched float16, float32, and this one searches bfloat16, float32"):
        started(home, "a", space=other)
    with pytest.raises(
        InputError, match=r"none of this network's 2 sites has a name .*\(here x, y; there a, b, c, d\)"
    ):
        started(home, "xy")
    with pytest.raises(InputError, match="there is no study 'first'"):
        started(home / "elsewhere", "abcd")


def test_a_study_is_not_started_from_itself(first: SiteStudy):
    """A study named as its own start is told how it goes on."""
    known = Knowledge(first.known.costs, NOISE, ALLOWED, Prior({}))
    newcomer = Newcomer(first.space, "w", "accuracy")
    with pytest.raises(InputError, match="study first cannot be started from itself: to go on with it, leave"):
        warm_started(known, "first", first.folder, newcomer, Lines(lambda text: None))


@pytest.mark.parametrize("sampler", ["tpe", "aimet"])
def test_only_the_ladder_starts_warm(sampler: str):
    """Other samplers hold no beliefs, and an experiment that starts one of them warm is refused."""
    with pytest.raises(ValueError, match=f"must be left out with sampler {sampler}: only the ladder learns"):
        Experiment(workload="w", sampler=sampler, warm_start="first")


COSTS = prices_of("abcd").costs
CHANCES = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.just("float16")), st.floats(0.001, 0.999), max_size=4
)


@settings(max_examples=20, deadline=None)
@given(chances=CHANCES, emphasis=CHANCES)
def test_what_is_kept_is_what_was_known(chances: dict, emphasis: dict):
    """A study's knowledge of its sites is read back from JSON as it was written, prior included."""
    known = Knowledge(COSTS, NOISE, ALLOWED, Prior(chances, emphasis), warm_start="first")
    advisor = SiteAdvisor("ladder", make_proposer("aimet", known, 3), space_of("abcd"), known, 3)
    kept = KnownSites.of(advisor, survey_of("abcd"), "v100", 0.9)
    read = KnownSites.model_validate_json(kept.model_dump_json())
    assert read == kept
    assert read.knowledge == known
