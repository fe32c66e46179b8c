"""A study in MLflow: one parent run, a child run a trial, in the experiment of its workload.

Only explicit run ids are used: MLflow's "active run" belongs to a thread, and a search must not touch the one
that a user's own script may have open.
"""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException

from . import tracking_fields as fields
from . import tracking_text as text
from .records import StudyInfo, StudySummary, TrialRecord
from .tracking import Tracker, TrackingError
from .tracking_store import check_sqlite, check_uri, is_server, store_calls

# MLflow has no word for "ran, but does not train". KILLED sets such a trial apart in the run list, both from
# those that trained and from those that broke; the tag halfwise.status has our own word.
_STATUS = {"trained": "FINISHED", "infeasible": "KILLED", "failed": "FAILED"}
_TRIAL_FILES = ("policy.yaml", "outcome.json", "ops.csv.gz", "output.log")
_METRICS_PER_CALL = 1000
_DESCRIPTION = "mlflow.note.content"
_FRONT_TABLE = "front.json"


class MlflowTracker(Tracker):
    """Takes a study down in an MLflow server or database.

    The run status of a trial is FINISHED if it trained, KILLED if it does not train, FAILED if it did not run
    to its end. Nothing is written before `begin`; a new sqlite file takes some seconds to make then.
    """

    def __init__(self, tracking_uri: str, artifact_root: Path) -> None:
        """Use the store at `tracking_uri`; a database's artifacts go below `artifact_root`, an absolute path.

        A server keeps artifacts where it was set up to, and `artifact_root` is not used.

        Raises:
            InputError: the URI is of a kind that MLflow does not take.
        """
        check_uri(tracking_uri)
        self._uri = tracking_uri
        self._artifacts = None if is_server(tracking_uri) else artifact_root.as_uri()
        self._study: _Study | None = None

    def begin(self, info: StudyInfo, resume: str | None = None) -> str:
        """Open the study's run, or the one with the id `resume` if it is still there, and give its id."""
        with store_calls(self._uri, "could not open the study's run"):
            check_sqlite(self._uri)
            client = MlflowClient(self._uri)
            experiment = _experiment(client, info, self._artifacts)
            run_id = _reopened(client, resume) or _parent_run(client, experiment, info)
            children = _children(client, experiment, run_id) if run_id == resume else {}
        self._study = _Study(client, info, experiment, run_id, children)
        return run_id

    def log_trial(self, record: TrialRecord) -> None:
        """Write a trial as a child run, unless it is there already; what is there in part is completed."""
        study = self._begun()
        with store_calls(self._uri, f"could not take down trial {record.number}"):
            study.write(record)

    def log_longer(self, record: TrialRecord) -> None:
        """Add the longer training to the trial's child run: its figures, the rest of its curves, how it ended."""
        study = self._begun()
        with store_calls(self._uri, f"could not take down the longer training of trial {record.number}"):
            study.write_on(record)

    def finish(self, summary: StudySummary) -> None:
        """Write the description, the front, the best policy and its figures, and close the study's run."""
        study = self._begun()
        with store_calls(self._uri, "could not take down what the study came to"):
            study.conclude(summary)

    def fail(self, message: str) -> None:
        """Close the study's run as FAILED, with the reason in its description."""
        study = self._begun()
        with store_calls(self._uri, "could not close the study's run"):
            study.abandon(message)

    def _begun(self) -> "_Study":
        if self._study is None:
            raise TrackingError("no run is open in MLflow: call begin first")
        return self._study


class _Child(NamedTuple):
    run_id: str
    complete: bool


class _Study:
    """An open study: its parent run and, by trial number, the child runs that it has so far."""

    def __init__(
        self,
        client: MlflowClient,
        info: StudyInfo,
        experiment: str,
        run_id: str,
        children: dict[int, _Child],
    ) -> None:
        self._client = client
        self._info = info
        self._experiment = experiment
        self._run_id = run_id
        self._children = children

    def write(self, record: TrialRecord) -> None:
        ended_ms = _ended_ms(record)
        child = self._children.get(record.number) or self._child(record, ended_ms)
        if child.complete:
            return
        run_id = child.run_id
        params = [Param(key, value) for key, value in fields.trial_params(record).items()]
        self._log(
            run_id, fields.trial_metrics(record.outcome, self._info.speed.of(record.outcome)), ended_ms, params
        )
        self._upload(run_id, [record.folder / name for name in _TRIAL_FILES])
        self._client.set_terminated(run_id, _STATUS[record.outcome.status], ended_ms)
        self._children[record.number] = _Child(run_id, complete=True)

    def write_on(self, record: TrialRecord) -> None:
        """A trial that was not taken down before is, as a whole."""
        child = self._children.get(record.number)
        if child is None or not child.complete:
            self.write(record)
            return
        ended_ms = _ended_ms(record)
        outcome = record.outcome
        before = max((steps for steps in outcome.quality_by_steps if steps < outcome.steps), default=0)
        metrics = fields.trial_metrics(outcome, self._info.speed.of(outcome))
        # The beginning of the curves is there already.
        news = [metric for metric in metrics if metric.key not in fields.CURVES or metric.step >= before]
        self._log(child.run_id, news, ended_ms, tags=fields.trial_tags(record, self._info))
        self._upload(child.run_id, [record.folder / name for name in _TRIAL_FILES])
        self._client.set_terminated(child.run_id, _STATUS[outcome.status], ended_ms)

    def conclude(self, summary: StudySummary) -> None:
        table = fields.front_table(summary, self._info)
        self._client.log_dict(self._run_id, table, _FRONT_TABLE)
        files = [summary.best_policy] if summary.best_policy else []
        self._upload(self._run_id, [*files, *summary.files])
        tags = {
            **fields.summary_tags(summary),
            _DESCRIPTION: _note(text.closing(self._info, summary)),
            # This tag is what makes MLflow's pages show the file as a table.
            "mlflow.loggedArtifacts": json.dumps([{"path": _FRONT_TABLE, "type": "table"}]),
        }
        self._log(self._run_id, fields.summary_metrics(summary), _now_ms(), tags=tags)
        self._compare(summary)
        self._client.set_terminated(self._run_id, "FINISHED")

    def _compare(self, summary: StudySummary) -> None:
        """What each trial lost against float32: only at the end is it known how well."""
        for point in summary.points:
            child = self._children.get(point.number)
            if child is not None and (lost := fields.lost_metrics(point)):
                self._log(child.run_id, lost, _now_ms(), tags=fields.lost_tags(point))

    def abandon(self, message: str) -> None:
        note = _note(text.failing(self._info, message))
        self._log(self._run_id, [], _now_ms(), tags={_DESCRIPTION: note})
        self._client.set_terminated(self._run_id, "FAILED")

    def _child(self, record: TrialRecord, ended_ms: int) -> "_Child":
        tags = {
            **fields.trial_tags(record, self._info),
            "mlflow.parentRunId": self._run_id,
            _DESCRIPTION: _note(text.trial(record)),
        }
        started_ms = ended_ms - round(1000 * (record.outcome.trial_time_s or 0))
        run = self._client.create_run(self._experiment, started_ms, tags, record.title)
        child = _Child(run.info.run_id, complete=False)
        self._children[record.number] = child
        return child

    def _log(
        self,
        run_id: str,
        metrics: Sequence[fields.MetricValue],
        at_ms: int,
        params: Sequence[Param] = (),
        tags: Mapping[str, str] | None = None,
    ) -> None:
        points = [Metric(key, value, at_ms, step) for key, value, step in metrics]
        # Params and tags take places of the same batch.
        first = _METRICS_PER_CALL - len(params) - len(tags or {})
        run_tags = [RunTag(key, value) for key, value in (tags or {}).items()]
        self._client.log_batch(run_id, points[:first], params, run_tags)
        for start in range(first, len(points), _METRICS_PER_CALL):
            self._client.log_batch(run_id, points[start : start + _METRICS_PER_CALL])

    def _upload(self, run_id: str, files: Sequence[Path]) -> None:
        for path in files:
            if path.is_file():
                self._client.log_artifact(run_id, str(path))


def _experiment(client: MlflowClient, info: StudyInfo, artifacts: str | None) -> str:
    name = f"halfwise/{info.workload}"
    found = client.get_experiment_by_name(name)
    if found is None:
        return _new_experiment(client, name, artifacts)
    if found.lifecycle_stage != "active":
        raise TrackingError(
            f"its experiment {name!r} was deleted there; bring it back with "
            f"`mlflow experiments restore --experiment-id {found.experiment_id}`"
        )
    return found.experiment_id


def _new_experiment(client: MlflowClient, name: str, artifacts: str | None) -> str:
    # Without this tag MLflow asks whoever opens the page what kind of experiment it is.
    tags = {"mlflow.experimentKind": "custom_model_development"}
    try:
        return client.create_experiment(name, artifacts, tags)
    except MlflowException as error:
        # Another search may have made it in this moment.
        made = client.get_experiment_by_name(name) if error.error_code == "RESOURCE_ALREADY_EXISTS" else None
        if made is None:
            raise
        return made.experiment_id


def _parent_run(client: MlflowClient, experiment: str, info: StudyInfo) -> str:
    tags = {**fields.study_tags(info), _DESCRIPTION: _note(text.opening(info))}
    run_id = client.create_run(experiment, tags=tags, run_name=info.name).info.run_id
    client.log_batch(run_id, params=[Param(key, value) for key, value in fields.study_params(info).items()])
    return run_id


def _reopened(client: MlflowClient, run_id: str | None) -> str | None:
    """The run set running again; None if the store does not have it, or has it in its bin."""
    if run_id is None:
        return None
    try:
        if client.get_run(run_id).info.lifecycle_stage != "active":
            return None
    except MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":
            return None
        raise
    client.update_run(run_id, status="RUNNING")
    return run_id


def _children(client: MlflowClient, experiment: str, parent: str) -> dict[int, _Child]:
    children: dict[int, _Child] = {}
    token = None
    while True:
        page = client.search_runs([experiment], f"tags.mlflow.parentRunId = '{parent}'", page_token=token)
        for run in page:
            if number := run.data.tags.get("halfwise.trial"):
                children[int(number)] = _Child(run.info.run_id, run.info.end_time is not None)
        token = page.token
        if not token:
            return children


def _note(markdown: str) -> str:
    return fields.shortened(markdown, fields.LONGEST_TAG, "the artifacts of this run")


def _now_ms() -> int:
    return round(1000 * time.time())


def _ended_ms(record: TrialRecord) -> int:
    """When the trial wrote its outcome: always the same, so that a second attempt adds no second points."""
    try:
        return round(1000 * (record.folder / "outcome.json").stat().st_mtime)
    except FileNotFoundError:
        return _now_ms()
