"""Trials as points: what they lost against float32, and what a study says of that."""

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from finished_study import add_confirmation, add_repeats, add_trial, lost_in_policy_file, study_info
from rich.console import Console
from scipy import stats

from halfwise.evaluators.json_file import write_json
from halfwise.experiments.conclusion import conclude, findings
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.paired import noise_of, points_of, resolution_of
from halfwise.experiments.records import StudySummary
from halfwise.experiments.study_file import StudyFile, read_records
from halfwise.experiments.study_report import print_study, study_json
from halfwise.search.noise import QualityLost


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    """A study: float32 and its noise, O3 much faster and a little worse, two between, one far worse."""
    folder = StudyFolder(tmp_path)
    add_trial(folder, 0, "O0", 100.0, 0.9)
    add_trial(folder, 1, "O2", 150.0, 0.901)
    add_trial(folder, 2, "O3", 200.0, 0.899)
    add_trial(folder, 3, "bfloat16", 220.0, 0.5)
    # A standard deviation of 0.002.
    add_repeats(folder, 0.9, 0.902, 0.898)
    return folder


def found_in(folder: StudyFolder, **changes) -> StudySummary:
    """What the study comes to."""
    return findings(study_info(folder, **changes), folder, read_records(folder))


def test_one_seed_has_the_interval_of_float32s_spread(folder):
    """A trial's loss is its difference to float32, give or take Student's t times float32's spread."""
    points = points_of(read_records(folder), study_info(folder), folder)
    lost = points[2].quality_lost
    assert lost is not None
    assert lost.mean == pytest.approx(0.001)
    assert lost.half_width == pytest.approx(0.002 * stats.t.ppf(0.975, 2))
    assert not points[2].confirmed
    assert points[0].quality_lost == QualityLost(0.0, 0.0)


def test_without_repeats_no_noise_is_made_up(folder):
    """A study whose float32 ran once has differences without intervals, and the plain front."""
    folder.float32_file.unlink()
    summary = found_in(folder)
    assert noise_of(folder) is None
    assert [point.number for point in summary.front] == [3, 2, 1]
    assert [str(point.quality_lost) for point in summary.front] == [
        "0.4 (one seed, noise not known)",
        "0.001 (one seed, noise not known)",
        "-0.001 (one seed, noise not known)",
    ]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_loss_is_held_against_float32_of_the_same_length(tmp_path, direction):
    """A trial that trained longer is compared with float32 of that length, whichever way the metric runs."""
    folder = StudyFolder(tmp_path)
    losses = tuple(0.1 for _ in range(60))
    shared = {"direction": direction, "losses": losses}
    add_trial(folder, 0, "O0", 100.0, 0.95, quality_by_steps={20: 0.9, 60: 0.95}, **shared)
    add_trial(folder, 1, "O2", 150.0, 0.89, direction=direction)
    add_trial(folder, 2, "O3", 200.0, 0.93, quality_by_steps={20: 0.7, 60: 0.93}, **shared)
    points = points_of(read_records(folder), study_info(folder, direction=direction), folder)
    sign = 1 if direction == "maximize" else -1
    lost = [p.quality_lost.mean for p in points if p.quality_lost is not None]
    assert lost == pytest.approx([0.0, sign * 0.01, sign * 0.02])


def test_the_front_shows_what_noise_lets_one_see(folder):
    """Within noise the faster trial stands for the others, which name it; what is worse beyond noise is apart."""
    summary = found_in(folder)
    assert [point.number for point in summary.front] == [3, 2]
    assert summary.as_good_as == {1: 2, 0: 2}
    assert resolution_of(study_info(folder), folder, summary.baseline).quality_margin == pytest.approx(
        0.0086, abs=1e-4
    )


def test_a_confirmation_takes_the_place_of_the_trials_own_figures(folder):
    """What fresh seeds say is the loss of the policy from then on; what failed with one of them does not count."""
    records = read_records(folder)
    add_confirmation(records[2], 0.03, 0.04, 0.05)
    add_confirmation(records[1], 0.0, None)
    summary = found_in(folder)
    low, broken = summary.points[2], summary.points[1]
    assert low.quality_lost == QualityLost.of_fresh_seeds([0.03, 0.04, 0.05])
    assert low.confirmed
    assert not broken.feasible
    assert broken.cause == "does not train for 40 steps with seed 3: non-finite at step 31"
    assert summary.best is not None
    # O3 lost too much, O2 failed: float32 stays.
    assert summary.best.number == 0


def test_a_confirmed_policy_that_holds_is_chosen_though_its_trial_was_unlucky(folder):
    """A trial beyond the tolerance whose mean over fresh seeds is within it may be chosen."""
    add_confirmation(read_records(folder)[3], 0.001, 0.002, 0.003)
    summary = found_in(folder)
    assert summary.best is not None
    assert summary.best.number == 3
    assert "loses 0.002 (95% interval" in summary.reason
    assert "3 fresh seeds" in summary.reason
    assert "not confirmed" not in summary.reason


def test_the_table_says_all_that_is_known_of_quality(folder):
    """front.csv holds each loss with its interval, what it rests on, and who stands for whom."""
    add_confirmation(read_records(folder)[2], 0.001, 0.002, 0.003)
    info = study_info(folder)
    conclude(info, folder, read_records(folder))
    table = pd.read_csv(folder.front_table).set_index("trial")
    assert list(table["confirmed"]) == [False, False, True, False]
    assert list(table["seeds"]) == [1, 1, 3, 1]
    assert table["quality_lost"][2] == pytest.approx(0.002)
    assert table["quality_lost_low"][2] < 0.002 < table["quality_lost_high"][2]
    assert table["quality_lost"][3] == pytest.approx(0.4)
    assert list(table["as_good_as"].dropna()) == [2, 2]
    assert list(table["accuracy"]) == [0.9, 0.901, 0.899, 0.5]
    lost = lost_in_policy_file(folder)
    assert lost["mean"] == pytest.approx(0.002)
    assert (lost["seeds"], lost["confirmed"]) == (3, True)


def test_everything_may_go_low_is_said_with_what_it_rests_on(folder):
    """The sentence names loss, interval, seeds, length and trials, and whether it was confirmed."""
    before = next(each for each in found_in(folder).remarks if each.startswith("Everything may go low"))
    assert "trial 2 (O3) loses 0.001 (95% interval -0.0076 to 0.0096, one seed) of accuracy, 20 steps" in before
    assert before.endswith("4 policies tried; not confirmed with fresh seeds.")
    add_confirmation(read_records(folder)[2], 0.001, 0.002, 0.003)
    after = next(each for each in found_in(folder).remarks if each.startswith("Everything may go low"))
    assert "3 fresh seeds) of accuracy, 40 steps each; 0.01 are allowed" in after
    assert "not confirmed" not in after
    add_confirmation(read_records(folder)[2], 0.1, 0.2, 0.3)
    lost = next(each for each in found_in(folder).remarks if "everything low" in each)
    assert lost.startswith("With everything low it trains, but not within 1.0% of float32: trial 2 (O3) loses 0.2")


def test_a_metric_that_never_moves_is_said(folder, tmp_path_factory):
    """Where every training gives the same quality, seeds of float32 included, the metric is to blame."""
    constant = StudyFolder(tmp_path_factory.mktemp("constant"))
    for number, level in enumerate(("O0", "O2", "O3")):
        add_trial(constant, number, level, 100.0 + number, 0.5)
    add_repeats(constant, 0.5, 0.5, 0.5)
    (said,) = [each for each in found_in(constant).remarks if "tells no policy from another" in each]
    assert said.startswith("accuracy is 0.5 in every one of 6 trainings")
    add_repeats(constant, 0.5, 0.51, 0.5)
    assert not any("tells no policy" in each for each in found_in(constant).remarks)


def test_what_is_on_the_front_unconfirmed_is_said(folder):
    """The last remark names the trials of the front that rest on one short training."""
    add_confirmation(read_records(folder)[2], 0.001, 0.002, 0.003)
    assert found_in(folder).remarks[-1] == "On the front but not confirmed with fresh seeds: trial 3."


def test_terminal_and_json_say_the_same(folder):
    """The table marks what is confirmed and who stands for whom; JSON holds the same figures."""
    add_confirmation(read_records(folder)[2], 0.001, 0.002, 0.003)
    write_json(StudyFile(info=study_info(folder)), folder.study_file)
    written = StringIO()
    print_study(folder, Home(folder.path.parent), Console(file=written, width=200, highlight=False))
    printed = written.getvalue()
    rows = {line.split("│")[1].strip(): line for line in printed.splitlines() if line.startswith("│")}
    assert "0.002 ± 0.0025" in rows["2"]
    assert "on it, confirmed" in rows["2"]
    assert "on it" in rows["3"]
    assert "confirmed" not in rows["3"]
    assert "as good as 2" in rows["1"]
    assert "Differences below 0.0086 of accuracy are noise here (95%, from 3 trainings of float32)" in printed
    document = json.loads(study_json(folder))
    assert document["trials"][2]["quality_lost"]["confirmed"] is True
    assert [trial["as_good_as"] for trial in document["trials"]] == [2, 2, None, None]


def test_float32_that_may_not_stay_is_still_the_measure(tmp_path):
    """Losses are known against a float32 that needs too much memory; without its quality there are none."""
    folder = StudyFolder(tmp_path)
    too_large = {"status": "infeasible", "cause": "needs 20 GB of memory, more than 16 GB"}
    add_trial(folder, 0, "O0", 100.0, 0.9, **too_large)
    add_trial(folder, 1, "O2", 150.0, 0.7)
    assert str(found_in(folder).points[1].quality_lost) == "0.2 (one seed, noise not known)"
    nothing = {"status": "infeasible", "cause": "non-finite at step 0", "quality": None, "quality_by_steps": {}}
    broken = StudyFolder(tmp_path / "broken")
    for number, (level, changes) in enumerate((("O0", nothing), ("O2", {}))):
        add_trial(broken, number, level, 100.0, **{"quality": 0.7} | changes)
    assert found_in(broken).points[1].quality_lost is None
    assert [point.number for point in found_in(broken).front] == [1]
    assert found_in(broken).baseline is None
    reason = found_in(broken).reason
    assert reason.startswith("float32 does not train (non-finite at step 0), so no policy can be held against it")
