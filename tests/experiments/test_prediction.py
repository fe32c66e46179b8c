"""Answers of a study without new trials: what reaches a target, and what is said where nothing does."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from finished_study import ROW, add_trial, study_info
from hypothesis import given, settings
from hypothesis import strategies as st
from site_study import ALLOWED, QUALITY, SiteStudy, prices_of, site_study

from halfwise.experiments.answers import Answer, keep_answer
from halfwise.experiments.confirmation import Confirmation
from halfwise.experiments.exporting import export_answer, export_trial
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.known_sites import history_of, known_sites
from halfwise.experiments.prediction import Predictor, Target, percent
from halfwise.policies.errors import InputError
from halfwise.search.choice import parse_rule

LOSSES = {"a": 0.0, "b": None, "c": 0.004, "d": 0.02}
OTHER_ROW = "h100-tf32"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> SiteStudy:
    """Four layers: b ruins training, c loses a little, d more than is allowed; four trials beside float32."""
    return site_study(tmp_path_factory.mktemp("home"), "first", LOSSES, 4)


@pytest.fixture(scope="module")
def predictor(study: SiteStudy) -> Predictor:
    """Answers of that study."""
    return Predictor(study.folder)


def candidates(study: SiteStudy) -> dict[tuple[int, ...], tuple[float, ...]]:
    """Speed-up, expected loss and marginal chance of every policy that no failure has ruled out."""
    known = known_sites(study.folder)
    beliefs = known.beliefs(history_of(study.folder, known).values())
    rows = np.array([c for c in product((0, 1), repeat=4) if not c[1] and c not in {(1, 0, 1, 1), (1, 0, 0, 1)}])
    doubt = beliefs.features.of(rows)[:, : beliefs.features.single] @ -np.log1p(-beliefs.hazards.chance)
    figures = zip(known.costs.speedups(rows), beliefs.quality_lost(rows), np.exp(-doubt), strict=True)
    return {tuple(row): tuple(map(float, each)) for row, each in zip(rows.tolist(), figures, strict=True)}


@settings(max_examples=20, deadline=None)
@given(asked=st.floats(1.01, 2.0))
def test_at_a_speed_the_least_harm_is_predicted(study: SiteStudy, predictor: Predictor, asked: float):
    """The answer reaches the speed, and no other policy that does has less expected loss and doubt."""
    known = candidates(study)
    fast = {choices: figures for choices, figures in known.items() if figures[0] >= asked}
    if not fast:
        with pytest.raises(InputError, match=f"is priced {asked:g} times as fast"):
            predictor.predict(Target(min_speedup=asked))
        return
    found = predictor.predict(Target(min_speedup=asked))
    beliefs = predictor.known.beliefs(history_of(study.folder, predictor.known).values())

    def harm(choices: tuple[int, ...]) -> float:
        return fast[choices][1] - beliefs.worst_lost * np.log(fast[choices][2])

    assert found.speedup >= asked
    assert harm(found.choices) == pytest.approx(min(map(harm, fast)), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(asked=st.floats(0, 0.05))
def test_at_a_loss_the_fastest_is_predicted(study: SiteStudy, predictor: Predictor, asked: float):
    """The answer is expected to keep to the loss and to train, and is the fastest of those, by enumeration."""
    fine = [s for s, lost, chance in candidates(study).values() if lost <= asked * QUALITY and chance >= 0.5]
    if max(fine) < 1.001:
        with pytest.raises(InputError, match="the one of least harm is"):
            predictor.predict(Target(max_drop=asked))
    else:
        assert predictor.predict(Target(max_drop=asked)).speedup == pytest.approx(max(fine))


def test_without_a_figure_the_studys_own_tolerance_counts(predictor: Predictor):
    """Asked for nothing but a device, the study answers for the loss that it allowed itself."""
    assert predictor.predict(Target()) == predictor.predict(Target(max_drop=ALLOWED / QUALITY))


def test_both_targets_hold_together(predictor: Predictor):
    """With a speed and a loss, the answer keeps to both; where none does, what each alone allows is said."""
    found = predictor.predict(Target(min_speedup=1.2, max_drop=0.01))
    assert found.speedup >= 1.2
    assert found.share_lost <= 0.01
    with pytest.raises(
        InputError, match=r"1\.5 times .* at most 0\.5% of its quality: at that speed the least is"
    ):
        predictor.predict(Target(min_speedup=1.5, max_drop=0.005))


def test_the_nearest_that_is_named_works(predictor: Predictor):
    """The speed that a refusal names can be asked for."""
    with pytest.raises(
        InputError, match=r"the fastest is 1\.538 times as fast; ask for --min-speedup 1\.53 or less"
    ):
        predictor.predict(Target(min_speedup=3))
    assert predictor.predict(Target(min_speedup=1.53)).speedup == pytest.approx(1.538, abs=0.001)


def test_another_device_has_its_own_prices(study: SiteStudy):
    """Priced for another row, the speed-up is that row's, from the op table that the study kept."""
    prices = prices_of(study.layers, OTHER_ROW)
    found = Predictor(study.folder, OTHER_ROW).predict(Target(max_drop=0.01))
    expected = prices.step_time_s((0,) * 4) / prices.step_time_s(found.choices)
    assert found.row == OTHER_ROW
    assert found.speedup == pytest.approx(expected)


def test_an_unknown_device_is_refused(study: SiteStudy):
    """A row that the device table lacks is refused by name."""
    with pytest.raises(InputError, match="h100-tf33"):
        Predictor(study.folder, "h100-tf33")


def test_a_prediction_says_that_nothing_was_trained(study: SiteStudy):
    """The file has the expected loss with its spread, the chance and the price, and no measured figure."""
    export = export_answer(study.folder, Target(min_speedup=1.2), None)
    results: Any = export.policy.results
    assert export.lines[0] == "predicted, not trained"
    assert results["is"] == "predicted, not trained"
    assert results["speed_is"] == f"priced on {ROW}, not measured"
    assert {"quality", "quality_lost", "speed_samples_per_s", "trial"}.isdisjoint(results)
    assert 0 < results["quality_lost_spread"] < 0.01
    assert study.low(export.policy) == {"a", "c"}


def test_what_was_trained_already_has_its_measured_figures(study: SiteStudy):
    """Where the answer is a trial of the study, that is said, with what was measured."""
    export = export_answer(study.folder, Target(max_drop=0.003), OTHER_ROW)
    results: Any = export.policy.results
    assert "trained already, as trial 4: accuracy 0.9" in export.lines[0]
    assert results["quality"] == pytest.approx(0.9)
    assert results["priced_elsewhere"]["speed_is"] == f"priced on {OTHER_ROW}, not measured"


def test_the_rules_still_export_trials(study: SiteStudy):
    """A trial by its number is written with its own figures."""
    assert export_trial(study.folder, parse_rule("trial:2")).policy.results["quality"] == pytest.approx(0.876)


def answered(predictor: Predictor, target: Target, lost: float | None) -> Answer:
    """What would have come of the answer to a target if it had been trained."""
    found = predictor.predict(target)
    by_seed: dict[int, float | None] = {2: None} if lost is None else {2: lost, 3: lost}
    return Answer(
        choices=predictor.known.costs.named(found.choices),
        confirmation=Confirmation(
            steps=40, quality_lost=by_seed, allowed=ALLOWED, causes={2: "non-finite at step 3"}, steps_trained=80
        ),
    )


def test_an_answer_that_did_not_hold_is_not_given_again(tmp_path: Path):
    """After an answer was trained and failed, the next one is another policy."""
    study = site_study(tmp_path, "first", LOSSES, 4)
    target = Target(min_speedup=1.2)
    before = Predictor(study.folder).predict(target)
    keep_answer(answered(Predictor(study.folder), target, None), study.folder, before.policy.digest)
    after = Predictor(study.folder).predict(target)
    assert after.choices != before.choices
    assert after.speedup >= 1.2


def test_an_answer_that_held_has_its_measured_loss(tmp_path: Path):
    """After an answer was trained and held, it is given with what was measured: no longer a prediction."""
    study = site_study(tmp_path, "first", LOSSES, 4)
    target = Target(min_speedup=1.2)
    found = Predictor(study.folder).predict(target)
    keep_answer(answered(Predictor(study.folder), target, 0.004), study.folder, found.policy.digest)
    export = export_answer(study.folder, target, None)
    assert export.lines[0].startswith("trained: loses 0.004 (95% interval 0.004 to 0.004, 2 fresh seeds)")
    results: Any = export.policy.results
    assert results["quality_lost"]["mean"] == pytest.approx(0.004)
    assert "is" not in results
    assert export.policy.digest == found.policy.digest


def test_a_study_without_sites_cannot_answer(tmp_path: Path):
    """A study of one of Optuna's samplers is told apart, with the samplers that can."""
    folder = StudyFolder(tmp_path / "tpe")
    add_trial(folder, 0, "O0", 100.0, 0.9)
    with pytest.raises(InputError, match="study tpe knows nothing of policies that it has not trained"):
        Predictor(folder)
    assert study_info(folder).sampler == "random"


def test_shares_are_said_in_percent():
    """A share of 0.0025 is 0.25%."""
    assert percent(0.0025) == "0.25%"
