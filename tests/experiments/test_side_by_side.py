"""A measured study knows a policy's speed from a measurement side by side with float32."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.outcome import Evidence, Outcome, StepTime
from halfwise.evaluators.process import Limits
from halfwise.evaluators.speed.comparison import Block, Comparison, Pair, Round, compare
from halfwise.experiments.conclusion import annotated, findings, front_frame
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.progress import describe
from halfwise.experiments.records import StudyInfo, TrialRecord
from halfwise.experiments.side_by_side import NOT_MEASURED, ROUNDS, SideBySide
from halfwise.experiments.speed import Measured
from halfwise.experiments.study_file import COMPARISON_FILE, criteria_of, point_of
from halfwise.experiments.tracking_fields import trial_metrics, trial_tags
from halfwise.policies import BUILTIN

SUPPORT = Path(__file__).parents[1] / "support"
WORDS = "measured on CPU by CPU time; 0% of the time went into waiting for data"


def compared(*ratios: float) -> Comparison:
    """A comparison of rounds that each gave one ratio."""
    pairs = [Pair(Block(1.0, 1.0, 0.0, 10), Block(ratio, ratio, 0.0, 10)) for ratio in ratios]
    return compare([Round(pairs=(pair,)) for pair in pairs], "CPU")


def record(folder: Path, number: int, level: str, **changes: Any) -> TrialRecord:
    """A trained trial of a built-in level; its own steps do 160 samples per second of CPU time."""
    fields: dict[str, Any] = {
        "policy": str(BUILTIN[level]),
        "digest": BUILTIN[level].digest,
        "seed": 1,
        "device": "CPU",
        "mindspore_version": "2.10.0",
        "status": "trained",
        "metric": "accuracy",
        "direction": "maximize",
        "quality": 0.9,
        "step_time": StepTime(wall_s=0.1, process_cpu_s=0.2, steps_timed=10),
        "throughput_samples_per_s": 320.0,
    }
    place = folder / f"{number:03d}"
    place.mkdir()
    return TrialRecord(number, level, BUILTIN[level], Outcome(**fields | changes), place)


def info(folder: Path) -> StudyInfo:
    """A study that compares by measured speed."""
    return StudyInfo(
        name="s",
        workload="w",
        command="halfwise search s.yaml",
        folder=folder,
        device="CPU",
        versions={},
        metric="accuracy",
        direction="maximize",
        tolerance=0.005,
        sampler="random",
        seed=1,
        trials_planned=5,
        speed_label="measured on CPU",
    )


@pytest.fixture
def records(tmp_path: Path) -> list[TrialRecord]:
    """Float32, O2 twice as fast without doubt, O3 of which nothing is known for sure."""
    sure = {"against_float32": compared(*[2.0] * 6), "float32_samples_per_s": 160.0}
    open_ = {"against_float32": compared(0.5, 0.9, 3.0, 3.0, 3.0, 3.5), "float32_samples_per_s": 160.0}
    return [record(tmp_path, 0, "O0"), record(tmp_path, 2, "O2", **sure), record(tmp_path, 3, "O3", **open_)]


def test_the_speed_is_float32s_times_the_ratio(records):
    """What the trial's own steps took plays no part once it was measured side by side."""
    assert [Measured("CPU").of(each.outcome) for each in records] == [160.0, 320.0, 480.0]


def test_the_table_has_the_interval_and_marks_what_is_inconclusive(records, tmp_path):
    """front.csv has both ends of each interval; float32 is the measure itself and has none."""
    study = info(tmp_path)
    table = front_frame(study, findings(study, StudyFolder(tmp_path), records))
    assert list(table["against_float32"]) == [1.0, 2.0, 3.0]
    assert list(table["ratio_low"])[1:] == [2.0, pytest.approx(0.7)]
    assert list(table["conclusive"]) == [None, True, False]
    # O3 is not surely slower than O2, nor surely faster: both have float32's quality, so the faster one stands.
    assert list(table["on_front"]) == [False, False, True]
    assert table["as_good_as"].tolist() == [3, 3, pd.NA]
    assert table["ratio_high"].isna().tolist() == [True, False, False]


def test_mlflow_has_ratio_interval_and_waiting_of_each_trial(records, tmp_path):
    """A child run has the figures as metrics, and a tag to filter inconclusive ones by; float32's has none."""
    metrics = [{m.key: m.value for m in trial_metrics(each.outcome, None)} for each in records]
    names = ("speed_ratio", "speed_ratio_low", "speed_ratio_high", "waiting_share")
    assert [metrics[1][name] for name in names] == [2.0, 2.0, 2.0, 0.0]
    assert "speed_ratio" not in metrics[0]
    tags = [trial_tags(each, info(tmp_path)).get("halfwise.speed_conclusive") for each in records]
    assert tags == [None, "yes", "no"]


def test_a_line_of_the_search_says_the_ratio_and_whether_it_is_known(records, tmp_path):
    """The line of a trial ends with its interval, and with a word where that is too wide."""
    lines = [describe(each, point_of(each, info(tmp_path))) for each in records]
    assert lines[1].endswith("320 samples/s, 2.00x float32's speed (2.00 to 2.00)")
    assert lines[2].endswith("inconclusive")


def test_what_is_not_surely_faster_is_refuted_by_trial_or_choice(records, tmp_path):
    """An interval that reaches 1 refutes a trial; so does the choice's own measurement of one that looked sure."""
    study = info(tmp_path)
    assert criteria_of(study, [], records).refuted == {3}
    write_json(compared(*[0.9] * 6), records[1].folder / COMPARISON_FILE)
    assert criteria_of(study, [], records).refuted == {2, 3}


def test_the_policy_file_carries_the_ratio_and_its_interval(records, tmp_path):
    """The file says what was measured; the choice's own measurement takes the place of the trial's."""
    study, trial = info(tmp_path), records[1]
    point = point_of(trial, study)
    assert (
        "against_float32" not in annotated(study, records[0], point_of(records[0], study), "because", {}).results
    )
    assert (
        annotated(study, trial, point, "because", {}).results["against_float32"]
        == f"2.00x float32's speed (2.00 to 2.00), {WORDS}"
    )
    write_json(compared(*[1.5] * 6), trial.folder / COMPARISON_FILE)
    assert (
        annotated(study, trial, point, "because", {}).results["against_float32"]
        == f"1.50x float32's speed (1.50 to 1.50), {WORDS}"
    )


def side_by_side(workload: str, time_s: float = 60) -> SideBySide:
    """Measures policies on a tiny workload, a moment in each round."""
    survey = make_survey()
    evaluator = Evaluator(
        workload=f"tiny_workloads:{workload}",
        search_path=SUPPORT,
        survey=survey,
        device=DeviceFacts("CPU", ("float16",), {}, reference_convolution=False),
        seed=1,
        steps=20,
        limits=Limits(time_s=time_s, memory_bytes=4 << 30),
    )
    return SideBySide(evaluator, Measured("CPU"), budget_s=0.3)


def test_only_what_needs_it_is_measured(tmp_path):
    """No process is started for float32 itself, its very step, what does not train, or without a float32 trial."""
    evidence = Evidence(asked_hash="a", summary="", ops_matched=1)
    float32 = record(tmp_path, 0, "O0", evidence=evidence)
    broken = record(tmp_path, 3, "O3", status="infeasible", cause="loss never moved").outcome
    timing = side_by_side("no_such_workload")
    assert timing.timed(float32.outcome, float32.policy, tmp_path, []) is float32.outcome
    assert timing.timed(float32.outcome, float32.policy, tmp_path, [float32]) is float32.outcome
    assert timing.timed(broken, BUILTIN["O3"], tmp_path, [float32]) is broken


def test_a_speed_that_cannot_be_measured_fails_the_trial(tmp_path):
    """A trial without a speed is never scored: it fails, and says what kept it from being measured."""
    float32, low = record(tmp_path, 0, "O0"), record(tmp_path, 3, "O3")
    outcome = side_by_side("make_raising").timed(low.outcome, low.policy, tmp_path, [float32])
    assert (outcome.status, outcome.cause) == ("failed", NOT_MEASURED)
    assert "on strike" in str(outcome.message)


@pytest.mark.full
def test_a_trained_policy_is_measured_against_float32(tmp_path):
    """The outcome gets the comparison of all rounds, and the float32 speed that it is a multiple of."""
    float32, low = record(tmp_path, 0, "O0"), record(tmp_path, 3, "O3")
    outcome = side_by_side("make_tiny").timed(low.outcome, low.policy, tmp_path, [float32])
    assert outcome.against_float32 is not None
    assert outcome.against_float32.rounds == ROUNDS
    assert outcome.float32_samples_per_s == 160.0
    assert Measured("CPU").of(outcome) == pytest.approx(160.0 * outcome.against_float32.cpu.median)
