"""The bound on what is left above a study's choice, wherever it is shown."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from finished_study import add_confirmation
from rich.console import Console
from site_study import SiteStudy, site_study

from halfwise.experiments import optimality
from halfwise.experiments.conclusion import conclude, findings
from halfwise.experiments.home import Home
from halfwise.experiments.known_sites import known_sites
from halfwise.experiments.optimality import concluded, with_bound
from halfwise.experiments.records import StudySummary
from halfwise.experiments.study_file import read_records
from halfwise.experiments.study_report import print_study, study_json
from halfwise.experiments.tracking_fields import summary_metrics
from halfwise.experiments.tracking_text import Links, closing
from halfwise.policies import load_policy

LOSSES = {"a": 0.0, "b": None, "c": 0.004, "d": 0.02}


@pytest.fixture
def study(tmp_path: Path) -> SiteStudy:
    """Layer b ruins training and was named; with c and d low too much was lost."""
    return site_study(tmp_path, "first", LOSSES, 4)


def bounded(study: SiteStudy) -> StudySummary:
    """What the study comes to, with the bound."""
    return with_bound(study.info, study.folder, findings(study.info, study.folder, read_records(study.folder)))


def test_the_bound_is_what_enumeration_leaves(study: SiteStudy):
    """Without b, and without the two policies that lost too much, c and d low is the fastest."""
    found, costs = bounded(study), study.known.costs
    assert found.best is not None
    assert found.bound is not None
    assert study.low(read_records(study.folder)[found.best.number].policy) == {"a"}
    assert found.bound.best == pytest.approx(costs.speedup((1, 0, 0, 0)))
    assert found.bound.possible == pytest.approx(costs.speedup((0, 0, 1, 1)))
    assert found.bound.believed == pytest.approx(costs.speedup((1, 0, 1, 0)))


def test_when_all_is_tried_nothing_is_left(study: SiteStudy):
    """Once every policy was tried that is faster than the choice, the bound is 0 in both ways."""
    study.try_policies(20)
    found = bounded(study)
    assert found.bound is not None
    assert (found.bound.left, found.bound.left_by_belief) == (0.0, 0.0)


def test_a_choice_that_was_taken_back_is_ruled_out(study: SiteStudy):
    """A policy that did not hold when it was confirmed is no longer possible, and another one is best."""
    study.try_policies(20)
    before = bounded(study)
    assert before.best is not None
    add_confirmation(read_records(study.folder)[before.best.number], 0.5, 0.5, 0.5)
    after = bounded(study)
    assert after.best is not None
    assert after.bound is not None
    assert after.best.number != before.best.number
    assert after.bound.possible == pytest.approx(after.bound.best)


def test_a_choice_that_was_confirmed_is_possible_whatever_its_own_seed_said(study: SiteStudy):
    """A policy that lost too much in its trial and held when it was confirmed bounds itself from above."""
    add_confirmation(read_records(study.folder)[2], 0.001, 0.002, 0.003)
    found = bounded(study)
    assert found.best is not None
    assert found.bound is not None
    assert found.best.number == 2
    assert found.bound.left == 0.0


def test_every_front_shows_the_bound(study: SiteStudy):
    """Terminal, JSON, MLflow's metrics and text, and the policy file say what is left."""
    conclude(study.info, study.folder, read_records(study.folder))
    found = concluded(study.info, study.folder, bounded(study))
    assert found.bound is not None
    words = "At most 46.2% of priced speed is left above trial 4 (not confirmed)"
    printed = StringIO()
    print_study(study.folder, Home(study.folder.path.parent), Console(file=printed, width=300))
    assert words in printed.getvalue()
    assert "Under the search's beliefs: 18.7%." in printed.getvalue()
    assert json.loads(study_json(study.folder))["priced_speed_left"] == pytest.approx(0.462, abs=0.001)
    metrics = {metric.key: metric.value for metric in summary_metrics(found)}
    assert metrics["priced_speed_left"] == found.bound.left
    assert metrics["priced_speed_left_by_belief"] == found.bound.left_by_belief
    assert "46.2% of priced speed is left above trial 4" in closing(study.info, found, None, Links("#trials"))
    assert load_policy(study.folder.best_policy).results["priced_speed_left"] == pytest.approx(found.bound.left)


def test_what_is_kept_holds_for_as_long_as_the_study_is_the_same(study: SiteStudy, monkeypatch):
    """After its end a study's bound is read; with another trial or a confirmation it is worked out anew."""
    conclude(study.info, study.folder, read_records(study.folder))
    found = concluded(study.info, study.folder, bounded(study)).bound
    asked: list[object] = []
    monkeypatch.setattr(optimality, "bound_of", lambda *given: asked.append(given) or found)
    assert bounded(study).bound == found
    assert asked == []
    study.try_policies(1)
    bounded(study)
    add_confirmation(read_records(study.folder)[2], 0.001, 0.002, 0.003)
    bounded(study)
    assert len(asked) == 2


def test_float32_as_the_choice_is_as_fast_as_its_own_step(study: SiteStudy):
    """The float32 level scales no loss, so it may be faster than the float32 of the cost model, which does."""
    summary = findings(study.info, study.folder, read_records(study.folder))
    assert summary.baseline is not None
    known = known_sites(study.folder)
    step_time_s = 0.8 * known.costs.float32_step_time_s
    float32 = replace(summary.baseline, speed=known.survey.batch_size / step_time_s)
    found = with_bound(study.info, study.folder, replace(summary, best=float32)).bound
    assert found is not None
    assert found.best == pytest.approx(1.25)


@pytest.mark.parametrize("what", ["measured", "without sites"])
def test_elsewhere_nothing_is_said(study: SiteStudy, what: str):
    """Where speed is measured, and of a study without sites, there is no bound, and no word of one."""
    if what == "without sites":
        study.folder.sites_file.unlink()
        info = study.info
    else:
        info = study.info.__class__(**{**study.info.__dict__, "priced_for": None})
    summary = findings(study.info, study.folder, read_records(study.folder))
    assert with_bound(info, study.folder, summary).bound is None
