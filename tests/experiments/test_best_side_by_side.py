"""The chosen policy of a measured study is measured once more, side by side with float32."""

from pathlib import Path

from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.outcome import Outcome, StepTime
from halfwise.evaluators.speed.comparison import Block, Pair, compare
from halfwise.experiments.conclusion import annotated
from halfwise.experiments.records import StudyInfo, TrialRecord
from halfwise.experiments.study_file import COMPARISON_FILE, comparison_of
from halfwise.policies import BUILTIN


def record(folder: Path) -> TrialRecord:
    """A trained trial of O3."""
    outcome = Outcome(
        policy=str(BUILTIN["O3"]),
        digest=BUILTIN["O3"].digest,
        seed=1,
        device="CPU",
        mindspore_version="2.10.0",
        status="trained",
        metric="accuracy",
        direction="maximize",
        quality=0.9,
        step_time=StepTime(wall_s=0.1, process_cpu_s=0.2, steps_timed=10),
        throughput_samples_per_s=320.0,
    )
    return TrialRecord(3, "O3", BUILTIN["O3"], outcome, folder)


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


def test_the_policy_file_carries_the_ratio_and_its_interval(tmp_path):
    """What was measured side by side stands in the policy file, in words with the interval."""
    trial = record(tmp_path)
    assert comparison_of(trial) is None
    assert "against_float32" not in annotated(info(tmp_path), trial, "because").results
    slow, fast = Block(2.0, 2.0, 0.0, 10), Block(1.0, 1.0, 0.0, 10)
    write_json(compare([Pair(fast, slow)] * 8, "CPU", 10), tmp_path / COMPARISON_FILE)
    words = "2.00x float32's speed (2.00 to 2.00), measured on CPU by CPU time"
    assert annotated(info(tmp_path), trial, "because").results["against_float32"] == words
