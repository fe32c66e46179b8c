import dataclasses
import json
import os
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlflow import MlflowClient
from mlflow.entities import DatasetInput, Run
from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.outcome import Outcome, Place, StepTime
from halfwise.experiments import tracking_text
from halfwise.experiments.cost import Cost
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.looked_at import keep_look
from halfwise.experiments.records import StudyInfo, StudySummary, TrialRecord
from halfwise.experiments.study_file import StudyFile
from halfwise.experiments.tracking import TrackingError
from halfwise.experiments.tracking_fields import LONGEST_PARAM, LONGEST_TAG, shortened, trial_metrics
from halfwise.experiments.tracking_mlflow import MlflowCopy
from halfwise.policies import BUILTIN, Policy, load_policy, save_policy
from halfwise.policies.errors import InputError
from halfwise.search.front import Point
from halfwise.search.noise import QualityLost

LONG = Policy(layers={f"encoder.blocks.{i}.attention.projection": "float16" for i in range(300)})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home whose path holds a space, an umlaut and a hash: the one store of all tests here."""
    home = Home(tmp_path_factory.mktemp("tracking") / "home ü#")
    home.prepare()
    return home


@pytest.fixture
def client(home: Home) -> MlflowClient:
    """What a user's own look into the store sees."""
    return MlflowClient(home.tracking_uri)


class Direct:
    """The copy of one study, each of whose steps is done at once and to its end."""

    def __init__(self, home: Home, study_id: str | None = None) -> None:
        self.copy = MlflowCopy(home.tracking_uri, home.artifact_root)
        self.study_id = study_id or uuid.uuid4().hex

    def begin(self, info: StudyInfo, resume: str | None = None) -> str:
        """Open the study's run and set it running; gives its id."""
        study = StudyFile(info=info, study_id=self.study_id)
        calls(self.copy.open(study, StudyFolder(info.folder), resume))
        calls(self.copy.running())
        assert self.copy.run is not None
        return self.copy.run

    def log_trial(self, record: TrialRecord) -> int:
        """Write a trial."""
        return calls(self.copy.write(record))

    def finish(self, summary: StudySummary) -> int:
        """Write what the study came to."""
        return calls(self.copy.conclude(summary, None))

    def fail(self, message: str) -> None:
        """Write that an error ended the search before there was any trial."""
        calls(self.copy.conclude(StudySummary((), (), None, None, "nothing was tried"), message))


def calls(steps: Iterator[None]) -> int:
    """How many answers of the store it took."""
    return sum(1 for _ in steps)


@pytest.fixture
def tracker(home: Home) -> Direct:
    """A study's copy in the shared store."""
    return Direct(home)


def _info(name: str = "digits-001", **changes: Any) -> StudyInfo:
    fields: dict[str, Any] = {
        "name": name,
        "workload": "digits-resnet",
        "command": "halfwise search digits.yaml --home '/a b'",
        "folder": Path("/a b/digits-001"),
        "device": "CPU",
        "versions": {"mindspore": "2.10.0", "optuna": "5.0.0"},
        "metric": "accuracy",
        "direction": "maximize",
        "tolerance": 0.005,
        "sampler": "tpe",
        "seed": 7,
        "trials_planned": 30,
        "speed_label": "measured on CPU",
    }
    return StudyInfo(**fields | changes)


def _outcome(policy: Policy, **changes: Any) -> Outcome:
    fields: dict[str, Any] = {
        "policy": str(policy),
        "digest": policy.digest,
        "seed": 7,
        "device": "CPU",
        "mindspore_version": "2.10.0",
        "status": "trained",
        "metric": "accuracy",
        "direction": "maximize",
        "quality": 0.96,
        "losses": (2.5, 1.5, 0.5),
        "loss_scales": (65536.0, 32768.0, 32768.0),
        "updates_applied": 2,
        "updates_skipped": 1,
        "step_time": StepTime(wall_s=0.02, process_cpu_s=0.03, steps_timed=20),
        "throughput_samples_per_s": 1600.0,
        "compile_time_s": 1.5,
        "trial_time_s": 4.0,
        "peak_memory_bytes": 10**9,
        "low_precision_layers": 3,
        "layers": 12,
    }
    return Outcome(**fields | changes)


NON_FINITE = {
    "status": "infeasible",
    "cause": "non-finite at step 0",
    "message": "the loss is NaN",
    "first_non_finite": Place(step=0, layer="blocks.<script>", op="Mul", direction="forward"),
    "quality": None,
    "losses": (None, 1.5, None),
    "throughput_samples_per_s": None,
    "step_time": None,
}


def _record(folder: Path, number: int = 2, name: str | None = "O2", **changes: Any) -> TrialRecord:
    policy = changes.pop("policy", BUILTIN["O2"])
    folder = folder / f"{number:03d}"
    folder.mkdir()
    outcome = _outcome(policy, **changes)
    write_json(outcome, folder / "outcome.json")
    save_policy(policy, folder / "policy.yaml")
    (folder / "output.log").write_text("compiling\n")
    return TrialRecord(number, name, policy, outcome, folder)


def _children(client: MlflowClient, parent_id: str) -> list[Run]:
    experiment = client.get_run(parent_id).info.experiment_id
    return list(client.search_runs([experiment], f"tags.mlflow.parentRunId = '{parent_id}'"))


def _child(client: MlflowClient, tracker: Direct, record: TrialRecord) -> Run:
    (child,) = _children(client, _begun_with(tracker, record))
    return child


def _begun_with(tracker: Direct, *records: TrialRecord) -> str:
    parent_id = tracker.begin(_info())
    for record in records:
        tracker.log_trial(record)
    return parent_id


def _download(client: MlflowClient, run_id: str, name: str, to: Path) -> Path:
    return Path(client.download_artifacts(run_id, name, str(to)))


def _history(client: MlflowClient, run: Run, key: str) -> list[tuple[int, float]]:
    return sorted((point.step, point.value) for point in client.get_metric_history(run.info.run_id, key))


def test_parent_run_says_what_is_searched(client: MlflowClient, tracker: Direct):
    """The study is a running parent run in its workload's experiment, with params, tags and a description."""
    run = client.get_run(tracker.begin(_info()))
    assert client.get_experiment(run.info.experiment_id).name == "halfwise/digits-resnet"
    assert (run.info.run_name, run.info.status) == ("digits-001", "RUNNING")
    assert run.data.params == {
        "workload": "digits-resnet",
        "metric": "accuracy",
        "direction": "maximize",
        "tolerance": "0.005",
        "sampler": "tpe",
        "seed": "7",
        "trials": "30",
        "device": "CPU",
        "speed": "measured on CPU",
    }
    assert run.data.tags["halfwise.command"] == "halfwise search digits.yaml --home '/a b'"
    assert run.data.tags["halfwise.mindspore_version"] == "2.10.0"
    assert "The search is running." in run.data.tags["mlflow.note.content"]


def test_trained_trial_is_a_finished_child(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """A trial that trained has its figures, tags and a title that sorts by number."""
    run = _child(client, tracker, _record(tmp_path))
    assert (run.info.run_name, run.info.status) == ("002 O2", "FINISHED")
    assert run.info.end_time is not None
    assert run.info.end_time - run.info.start_time == 4000
    assert run.data.metrics == {
        "quality": 0.96,
        "speed_samples_per_s": pytest.approx(1600.0 * 0.02 / 0.03),
        "throughput_samples_per_s": 1600.0,
        "step_wall_s": 0.02,
        "step_cpu_s": 0.03,
        "compile_time_s": 1.5,
        "trial_time_s": 4.0,
        "peak_memory_bytes": 1e9,
        "updates_applied": 2.0,
        "updates_skipped": 1.0,
        "low_precision_share": 0.25,
        "loss": 0.5,
        "loss_scale": 32768.0,
    }
    expected = {
        "halfwise.study_id": tracker.study_id,
        "halfwise.kind": "trial",
        "halfwise.study": "digits-001",
        "halfwise.trial": "002",
        "halfwise.digest": BUILTIN["O2"].digest,
        "halfwise.status": "trained",
        "halfwise.policy_name": "O2",
        "halfwise.device": "CPU",
        "halfwise.mindspore_version": "2.10.0",
        "halfwise.speed": "measured on CPU",
    }
    ours = {key: value for key, value in run.data.tags.items() if key.startswith("halfwise.")}
    assert len(ours.pop("halfwise.copied")) == 16
    assert ours == expected
    assert run.data.params["mode"] == "graph"
    assert run.data.params["policy"] == str(BUILTIN["O2"])


def test_loss_and_loss_scale_are_there_by_step(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """The curves are stored with the training step that each value belongs to."""
    run = _child(client, tracker, _record(tmp_path))
    assert _history(client, run, "loss") == [(0, 2.5), (1, 1.5), (2, 0.5)]
    assert _history(client, run, "loss_scale") == [(0, 65536.0), (1, 32768.0), (2, 32768.0)]


def test_curves_longer_than_a_batch_arrive_whole(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """MLflow takes 1,000 values a call; a longer trial is written in several."""
    steps = 1200
    record = _record(tmp_path, losses=tuple(map(float, range(steps))), loss_scales=(1.0,) * steps)
    run = _child(client, tracker, record)
    assert _history(client, run, "loss") == [(step, float(step)) for step in range(steps)]
    assert len(_history(client, run, "loss_scale")) == steps


def test_non_finite_values_become_tags(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """Case 38: what is NaN, infinite or missing is no metric; tags say what happened and where."""
    run = _child(client, tracker, _record(tmp_path, name=None, **NON_FINITE))
    assert (run.info.run_name, run.info.status) == (f"002 {BUILTIN['O2'].digest}", "KILLED")
    assert _history(client, run, "loss") == [(1, 1.5)]
    assert "quality" not in run.data.metrics
    assert "throughput_samples_per_s" not in run.data.metrics
    assert "speed_samples_per_s" not in run.data.metrics
    assert run.data.tags["halfwise.status"] == "infeasible"
    assert run.data.tags["halfwise.cause"] == "non-finite at step 0"
    assert run.data.tags["halfwise.non_finite_steps"] == "2 of 3, first 0"
    assert run.data.tags["halfwise.first_non_finite"] == "step 0, op Mul of blocks.<script> (forward)"
    assert "blocks.&lt;script&gt;" in run.data.tags["mlflow.note.content"]


def test_values_that_slipped_through_are_not_logged():
    """Even an outcome made without checks gives no metric that is not finite."""
    outcome = _outcome(BUILTIN["O0"]).model_copy(
        update={"quality": float("nan"), "losses": (float("inf"), 1.0), "compile_time_s": float("-inf")}
    )
    logged = {(metric.key, metric.step): metric.value for metric in trial_metrics(outcome, 1.0)}
    assert "quality" not in dict.fromkeys(key for key, _ in logged)
    assert ("loss", 0) not in logged
    assert logged["loss", 1] == 1.0


def test_crashed_trial_is_a_failed_child(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """A trial that did not run to its end is FAILED, with its cause; absent files are no error."""
    record = _record(tmp_path, status="failed", cause="out of memory", losses=(), loss_scales=(), quality=None)
    (record.folder / "output.log").unlink()
    run = _child(client, tracker, record)
    assert run.info.status == "FAILED"
    assert run.data.tags["halfwise.cause"] == "out of memory"
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"policy.yaml", "outcome.json"}


def test_policy_of_300_layers_is_whole_in_the_artifact(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """Case 37: the artifact gives the policy back; the param is cut within MLflow's limit and says where."""
    run = _child(client, tracker, _record(tmp_path, name=None, policy=LONG))
    assert load_policy(_download(client, run.info.run_id, "policy.yaml", tmp_path)) == LONG
    assert len(str(LONG)) > LONGEST_PARAM
    assert len(run.data.params["policy"]) == LONGEST_PARAM
    assert run.data.params["policy"].endswith("(whole: policy.yaml)")
    assert run.data.params["layer_rules"] == "300"


@given(st.text(max_size=80), st.integers(40, 60))
def test_shortened_text_fits_and_short_text_is_untouched(value: str, longest: int):
    """What fits stays as it is; what does not is cut to the limit and names the place of the whole."""
    short = shortened(value, longest, "policy.yaml")
    assert len(short) <= longest
    assert short == value or (len(value) > longest and short.endswith("(whole: policy.yaml)"))


def test_long_values_stay_within_mlflows_limits(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """A very long cause or command is cut by us, with a note, and never refused."""
    record = _record(tmp_path, **{**NON_FINITE, "cause": "x" * 20000})
    parent = tracker.begin(_info(command="y" * 20000))
    tracker.log_trial(record)
    (run,) = _children(client, parent)
    for tags in (run.data.tags, client.get_run(parent).data.tags):
        assert max(map(len, tags.values())) == LONGEST_TAG
    assert run.data.tags["halfwise.cause"].endswith("(whole: outcome.json)")


def _summary(folder: Path, **changes: Any) -> StudySummary:
    for name in ("best-policy.yaml", "front.csv", "front.png"):
        (folder / name).write_text(name)
    base = Point(0, "O0", "a" * 12, 0.96, 1000.0, quality_lost=QualityLost(0.0, 0.0))
    lost = QualityLost(0.002, 0.003, 3, confirmed=True)
    best = Point(2, "O2", "b" * 12, 0.958, 1500.0, quality_lost=lost)
    bad = Point(3, "O3", "c" * 12, None, None, feasible=False, cause="non-finite at step 0")
    fields: dict[str, Any] = {
        "points": (base, best, bad),
        "front": (best, base),
        "baseline": base,
        "best": best,
        "reason": "trial 2 (O2) is the fastest within 0.5% of float32's accuracy",
        "best_policy": folder / "best-policy.yaml",
        "files": (folder / "front.csv", folder / "front.png", folder / "absent.html"),
        "counts": {"trained": 2, "infeasible": 1},
        "remarks": ("Everything may go low: so it was found.",),
    }
    return StudySummary(**fields | changes)


def test_finished_study_has_front_best_policy_and_description(
    client: MlflowClient, tracker: Direct, tmp_path: Path
):
    """The parent ends FINISHED with the front as table and picture, the best policy and how to use it."""
    run_id = tracker.begin(_info())
    tracker.finish(_summary(tmp_path))
    run = client.get_run(run_id)
    assert run.info.status == "FINISHED"
    names = {file.path for file in client.list_artifacts(run_id)}
    assert names == {"best-policy.yaml", "policies", "front.csv", "front.png", "front.json"}
    table = json.loads(_download(client, run_id, "front.json", tmp_path).read_text())
    assert table["columns"] == [
        "trial",
        "policy",
        "accuracy",
        "quality_lost",
        "quality_lost_low",
        "quality_lost_high",
        "confirmed",
        "speed_samples_per_s",
        "against_float32",
        "interval",
        "digest",
    ]
    assert table["data"] == [
        [2, "O2", 0.958, 0.002, -0.001, 0.005, True, 1500.0, 1.5, "", "b" * 12],
        [0, "O0", 0.96, 0.0, 0.0, 0.0, False, 1000.0, 1.0, "", "a" * 12],
    ]
    assert json.loads(run.data.tags["mlflow.loggedArtifacts"]) == [{"path": "front.json", "type": "table"}]
    assert run.data.metrics == {
        "front_size": 2,
        "trials": 3,
        "trials_trained": 2,
        "trials_infeasible": 1,
        "trials_failed": 0,
        "quality": 0.958,
        "speed_samples_per_s": 1500.0,
        "speedup_over_float32": 1.5,
        "quality_lost": 0.002,
        "quality_lost_low": -0.001,
        "quality_lost_high": 0.005,
        "quality_lost_seeds": 3,
        # Half of float32's speed more, and 0.002 of 0.96 less than the ten tolerances of 0.5%.
        "hypervolume": pytest.approx(0.5 * (0.05 - 0.002 / 0.96)),
    }
    areas = [(point.step, point.value) for point in client.get_metric_history(run_id, "hypervolume")]
    assert areas == [(0, 0.0), (2, pytest.approx(0.02395833333)), (3, pytest.approx(0.02395833333))]
    assert run.data.tags["halfwise.hypervolume_from"] == "float32's speed, and a loss of 5% of its quality"
    assert run.data.tags["halfwise.confirmed"] == "yes"
    assert run.data.tags["halfwise.best"] == "trial 2 (O2)"
    note = run.data.tags["mlflow.note.content"]
    assert note.startswith(r"**Best policy:** trial 2 \(O2\) is the fastest within 0.5%")
    assert r"| trial 2 \(O2\) | 0.958 | 0.002 ± 0.003 | yes | 1,500 | 1.50x |" in note
    assert "Everything may go low" in note
    assert "3 policies tried: 2 trained, 1 do not count, 0 did not run to their end." in note
    assert 'apply(load_policy("best-policy.yaml"), network)' in note
    assert "halfwise search digits.yaml --home '/a b'" in note


def test_every_child_has_what_it_lost_when_the_study_ends(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """At the end each trial's run gets its difference to float32, with its interval, and if it is confirmed."""
    (tmp_path / "trials").mkdir()
    trials = [_record(tmp_path / "trials", 0, "O0"), _record(tmp_path / "trials", 2, "O2")]
    run_id = _begun_with(tracker, *trials)
    tracker.finish(_summary(tmp_path))
    runs = {run.info.run_name: run.data for run in _children(client, run_id)}
    assert set(runs) == {"000 O0", "002 O2 1.50x -0.2%"}
    low = runs["002 O2 1.50x -0.2%"]
    names = ("quality_lost", "quality_lost_low", "quality_lost_high", "quality_lost_seeds")
    assert [low.metrics[name] for name in names] == [0.002, -0.001, 0.005, 3]
    assert low.tags["halfwise.confirmed"] == "yes"
    assert (low.tags["halfwise.front_rank"], low.tags["halfwise.chosen"]) == ("1", "yes")
    assert (runs["000 O0"].tags["halfwise.front_rank"], runs["000 O0"].tags["halfwise.chosen"]) == ("2", "no")
    assert runs["000 O0"].metrics["quality_lost"] == 0.0
    assert "halfwise.confirmed" not in runs["000 O0"].tags


def test_study_without_a_choice_says_why(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """Where nothing trained there is no best policy, and the description says why."""
    run_id = tracker.begin(_info())
    nothing = _summary(tmp_path, front=(), baseline=None, best=None, best_policy=None, reason="none trains")
    tracker.finish(nothing)
    run = client.get_run(run_id)
    assert run.data.tags["mlflow.note.content"].startswith("**No policy was chosen:** none trains")
    assert "quality" not in run.data.metrics
    assert "best-policy.yaml" not in {file.path for file in client.list_artifacts(run_id)}


def test_study_that_raised_is_failed(client: MlflowClient, tracker: Direct):
    """A search that ended in an error leaves a FAILED parent with the reason, shown as text."""
    run_id = tracker.begin(_info())
    tracker.fail("no layer <script>alert(1)</script>")
    run = client.get_run(run_id)
    assert run.info.status == "FAILED"
    note = run.data.tags["mlflow.note.content"]
    assert note.startswith(r"**The search ended early:** no layer &lt;script&gt;alert\(1\)&lt;/script&gt;")


@pytest.mark.parametrize("is_known", [True, False])
def test_resumed_study_goes_on_in_its_run(
    home: Home, client: MlflowClient, tracker: Direct, tmp_path: Path, is_known: bool
):
    """A second process goes on in the same run, known or not; trials that are there are not written twice."""
    first, second = _record(tmp_path, 0, "O0"), _record(tmp_path, 1, "O1")
    run_id = _begun_with(tracker, first)
    tracker.fail("interrupted")
    again = Direct(home, tracker.study_id)
    assert again.begin(_info(), resume=run_id if is_known else None) == run_id
    assert client.get_run(run_id).info.status == "RUNNING"
    assert again.log_trial(first) == 0
    assert again.log_trial(second) > 0
    names = sorted(str(run.info.run_name) for run in _children(client, run_id))
    assert names == ["000 O0", "001 O1"]


def test_trial_that_was_written_in_part_is_completed(
    home: Home, client: MlflowClient, tracker: Direct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A trial whose writing broke off is completed later, in its own run and without doubled points."""
    record = _record(tmp_path)
    run_id = tracker.begin(_info())

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "log_artifact", full)
        with pytest.raises(TrackingError, match="could not take down trial 2: No space left on device"):
            tracker.log_trial(record)
    again = Direct(home, tracker.study_id)
    again.begin(_info(), resume=run_id)
    again.log_trial(record)
    (run,) = _children(client, run_id)
    assert run.info.status == "FINISHED"
    assert _history(client, run, "loss") == [(0, 2.5), (1, 1.5), (2, 0.5)]


def test_deleted_run_gives_a_new_one_with_the_same_trials(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """A parent run in the bin gets a successor, which the trials that are still there belong to."""
    record = _record(tmp_path)
    first = _begun_with(tracker, record)
    client.delete_run(first)
    second = tracker.begin(_info(), resume=first)
    assert second != first
    tracker.log_trial(record)
    (run,) = _children(client, second)
    assert run.info.run_name == "002 O2"
    assert _children(client, first) == []
    assert tracker.begin(_info(), resume="0" * 32) == second


def test_run_in_a_renamed_experiment_is_found(client: MlflowClient, tracker: Direct):
    """Whoever renames the experiment keeps the study's run there."""
    run_id = tracker.begin(_info(workload="to be renamed"))
    client.rename_experiment(client.get_run(run_id).info.experiment_id, "mine")
    assert tracker.begin(_info(workload="to be renamed"), resume=run_id) == run_id


def test_runs_made_twice_are_one_again(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """Where an answer came too late and a run was made twice, the complete one stays."""
    record = _record(tmp_path)
    parent = _begun_with(tracker, record)
    (complete,) = _children(client, parent)
    tags = {key: value for key, value in complete.data.tags.items() if key != "halfwise.copied"}
    for run in (complete, client.get_run(parent)):
        twin = {key: value for key, value in run.data.tags.items() if key in tags and key != "mlflow.runName"}
        client.create_run(run.info.experiment_id, tags=twin, run_name="twin")
    assert len(_children(client, parent)) == 2
    assert tracker.begin(_info(), resume=parent) == parent
    assert [run.info.run_id for run in _children(client, parent)] == [complete.info.run_id]
    ours = f"tags.`halfwise.study_id` = '{tracker.study_id}'"
    assert len(client.search_runs([complete.info.experiment_id], ours)) == 2
    assert tracker.log_trial(record) == 0


def test_what_is_there_is_not_written_again(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """Whoever brings a study twice makes no call the second time, and sees no run, point or tag change."""
    records = [_record(tmp_path, 0, "O0"), _record(tmp_path, 2, "O2")]
    parent = _begun_with(tracker, *records)
    summary = _summary(tmp_path)
    assert tracker.finish(summary) > 0
    before = {run.info.run_id: run.to_dictionary() for run in [client.get_run(parent), *_children(client, parent)]}
    again = MlflowCopy(tracker.copy.uri, tmp_path)
    calls(
        again.open(StudyFile(info=_info(), study_id=tracker.study_id), StudyFolder(Path("/a b/digits-001")), None)
    )
    assert [calls(again.write(record)) for record in records] == [0, 0]
    assert calls(again.conclude(summary, None)) == 0
    after = {run.info.run_id: run.to_dictionary() for run in [client.get_run(parent), *_children(client, parent)]}
    assert after == before


def data_of(run: Run) -> list[DatasetInput]:
    """The data that a run names."""
    return run.inputs.dataset_inputs if run.inputs else []


def test_runs_name_the_data_that_they_were_made_with(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """Parent and trials have the workload's data with their digest, once; a study that did not look has none."""
    place = tmp_path / "study"
    place.mkdir()
    device = DeviceFacts("CPU", ("float16",), {}, reference_convolution=False)
    keep_look(device, make_survey(data_digest="ab" * 16), StudyFolder(place))
    parent = tracker.begin(_info(folder=place))
    tracker.log_trial(_record(tmp_path, 0, "O0"))
    tracker.begin(_info(folder=place), resume=parent)
    for run in (client.get_run(parent), *_children(client, parent)):
        (used,) = data_of(run)
        assert (used.dataset.name, used.dataset.digest) == ("tiny", "ab" * 16)
    other = Direct(Home(tmp_path / "other"))
    other.copy = tracker.copy
    assert not data_of(client.get_run(other.begin(_info("digits-002"))))


def test_deleted_experiment_says_how_to_restore_it(client: MlflowClient, tracker: Direct):
    """A deleted experiment is not written to; the message names the command that restores it."""
    run = client.get_run(tracker.begin(_info(workload="gone")))
    client.delete_experiment(run.info.experiment_id)
    restore = f"mlflow experiments restore --experiment-id {run.info.experiment_id}"
    with pytest.raises(TrackingError, match=restore):
        tracker.begin(_info(workload="gone"))


def test_no_global_state_is_left(tracker: Direct):
    """Neither the environment nor MLflow's active run, tracking URI or defaults are changed by tracking."""
    import mlflow
    from mlflow.environment_variables import MLFLOW_HTTP_REQUEST_MAX_RETRIES as RETRIES

    before, uri, default = dict(os.environ), mlflow.get_tracking_uri(), RETRIES.get()
    tracker.begin(_info())
    assert dict(os.environ) == before
    assert mlflow.get_tracking_uri() == uri
    assert mlflow.active_run() is None
    assert RETRIES.get() == default != 0


def test_environment_is_the_same_during_calls(tracker: Direct):
    """While the store is asked, nothing is in the environment that a process started meanwhile would inherit."""
    before = dict(os.environ)
    steps = tracker.copy.open(StudyFile(info=_info()), StudyFolder(Path("/a b/digits-001")), None)
    assert [dict(os.environ) == before for _ in steps] == [True] * 3


def test_nothing_is_printed(tracker: Direct, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """Tracking leaves the terminal to the progress bar."""
    tracker.begin(_info())
    tracker.finish(_summary(tmp_path))
    assert capfd.readouterr() == ("", "")


def test_server_that_is_not_there_is_one_line_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A refused connection is one line with the address and no password, and what the user set is kept."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    copy = MlflowCopy("http://me:secret@127.0.0.1:9", tmp_path)
    with pytest.raises(TrackingError) as caught:
        calls(copy.open(StudyFile(info=_info()), StudyFolder(tmp_path), None))
    message = str(caught.value)
    assert message.startswith("MLflow at http://127.0.0.1:9 could not open the study's run: ")
    assert "\n" not in message
    assert "secret" not in message
    assert os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "0"


@pytest.mark.parametrize("break_store", [Path.mkdir, lambda path: path.write_text("no database" * 500)])
def test_store_that_cannot_be_opened_is_said_at_once(tmp_path: Path, break_store: Callable[[Path], Any]):
    """A sqlite file that is a folder, or no database, is an error at once instead of after 100 seconds."""
    break_store(tmp_path / "mlflow.db")
    copy = MlflowCopy(f"sqlite:///{tmp_path}/mlflow.db", tmp_path)
    with pytest.raises(TrackingError, match=r"could not open the study's run: (unable to open|file is not)"):
        calls(copy.open(StudyFile(info=_info()), StudyFolder(tmp_path), None))


def test_locked_store_is_said(home: Home, tracker: Direct, monkeypatch: pytest.MonkeyPatch):
    """Case 35: a store that another program keeps locked is an error after a bounded wait."""
    monkeypatch.setattr("halfwise.experiments.tracking_store._LOCK_WAIT_S", 0.1)
    with sqlite3.connect(home.store_file) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TrackingError, match="database is locked"):
            tracker.begin(_info())
        other.rollback()
    other.close()


@pytest.mark.parametrize("uri", ["mlruns", "file:///tmp/mlruns", "ftp://x", "", "databricks"])
def test_uri_that_mlflow_does_not_take_is_refused(uri: str, tmp_path: Path):
    """A folder or an unknown scheme is refused with the kinds that are allowed."""
    with pytest.raises(InputError, match="must be a server"):
        MlflowCopy(uri, tmp_path)


@given(st.text())
def test_escaped_text_is_one_line_without_tags(value: str):
    """Whatever a layer is called, its markdown holds no HTML tag, line break or unescaped markup."""
    words = tracking_text.escaped(value)
    assert not set("<>\n\r") & set(words)
    assert words.replace("\\\\", "").count("`") == words.replace("\\\\", "").count("\\`")


@given(st.text(alphabet="`ab \n"))
def test_nothing_ends_a_code_block_early(value: str):
    """A fence is longer than any run of backticks in its text."""
    fence = tracking_text.code_block(value).split("\n")[0]
    assert fence not in value


def test_longer_training_is_added_to_the_trials_run(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """A trial that was trained on has its newest figures, one whole curve without doubles, and how it ended."""
    record = _record(tmp_path, quality_by_steps={3: 0.96})
    parent_id = _begun_with(tracker, record)
    changes = {"losses": (2.5, 1.5, 0.5, 0.4, 0.3), "loss_scales": (1.0,) * 5}
    by_steps = {3: 0.96, 5: 0.98}
    longer = _outcome(record.policy, quality=0.98, quality_by_steps=by_steps, **changes)
    write_json(longer, record.folder / "outcome.json")
    tracker.log_trial(dataclasses.replace(record, outcome=longer))
    (run,) = _children(client, parent_id)
    assert run.data.metrics["quality"] == 0.98
    assert _history(client, run, "loss") == [(0, 2.5), (1, 1.5), (2, 0.5), (3, 0.4), (4, 0.3)]
    broken = NON_FINITE | {"losses": (2.5, 1.5, 0.5, 0.4, 0.3, None), "quality_by_steps": by_steps}
    ended = _outcome(record.policy, **broken)
    write_json(ended, record.folder / "outcome.json")
    tracker.log_trial(dataclasses.replace(record, outcome=ended))
    (run,) = _children(client, parent_id)
    assert run.data.tags["halfwise.status"] == "infeasible"
    assert run.data.tags["halfwise.cause"] == "non-finite at step 0"
    assert len(_history(client, run, "loss")) == 5


def test_a_finished_study_says_what_it_cost(client: MlflowClient, tracker: Direct, tmp_path: Path):
    """Training steps, seconds and full-training equivalents are metrics of the study, its bounds are params."""
    parent_id = tracker.begin(_info(budget={"full_runs": "2", "rungs": "80, 240"}))
    cost = Cost(full_steps=1600, steps=2400, time_s=93.5, ended="all 30 trials were made (trials)")
    tracker.finish(_summary(tmp_path, cost=cost))
    run = client.get_run(parent_id)
    assert run.data.metrics["training_steps"] == 2400
    assert run.data.metrics["search_time_s"] == 93.5
    assert run.data.metrics["full_training_equivalents"] == 1.5
    assert run.data.tags["halfwise.ended"] == "all 30 trials were made (trials)"
    assert (run.data.params["full_runs"], run.data.params["rungs"]) == ("2", "80, 240")
