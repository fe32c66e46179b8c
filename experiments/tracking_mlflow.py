"""A study in MLflow: one parent run, a child run a trial, in the experiment of its workload.

Only explicit run ids are used: MLflow's "active run" belongs to a thread, and a search must not touch the one
that a user's own script may have open.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlflow import MlflowClient
from mlflow.utils.mlflow_tags import MLFLOW_RUN_NAME

from ..evaluators.json_file import read_json
from . import tracking_fields as fields
from . import tracking_text as text
from .confirmation import CONFIRMATION_FILE
from .device_confirmation import DeviceConfirmation
from .home import StudyFolder
from .records import StudySummary, TrialRecord
from .study_file import COMPARISON_FILE, StudyFile
from .tracking import TrackingError
from .tracking_confirmed import confirmed_metrics, confirmed_tag
from .tracking_data import workload_data
from .tracking_found import (
    COPIED,
    STUDY_ID,
    TRIAL,
    by_number,
    experiment_for,
    kept_in,
    one_of,
    parent_run,
    runs_of,
)
from .tracking_front import hypervolume_by_trial, hypervolume_tags, rank_tags, run_name
from .tracking_registry import register_best
from .tracking_runs import CopiedRun, now_ms
from .tracking_store import check_sqlite, store_calls
from .tracking_uri import check_uri, is_server, without_password
from .tracking_view import save_view, view_link

# MLflow has no word for "ran, but does not train". KILLED sets such a trial apart in the run list, both from
# those that trained and from those that broke; the tag halfwise.status has our own word.
_STATUS = {"trained": "FINISHED", "infeasible": "KILLED", "failed": "FAILED"}
# What a trial's run is made of: it is complete while these are as they were.
_RESULTS = ("outcome.json", COMPARISON_FILE, CONFIRMATION_FILE)
_TRIAL_FILES = ("policy.yaml", *_RESULTS, "ops.csv.gz", "output.log")
_DESCRIPTION, _PARENT = "mlflow.note.content", "mlflow.parentRunId"
_FRONT_TABLE = "front.json"


class MlflowCopy:
    """A study's copy in an MLflow server or database, brought up to what the study's folder holds.

    `open` comes first, then the others in any order and as often as one likes: what is there already is left
    alone, what is there in part is completed. All of them are generators that yield after each answer of the
    store, and nothing if there was nothing to do; they raise TrackingError where it does not answer in a bounded
    time, or refuses. The copy is then to be opened again: a run may have been made whose answer was lost.

    The run status of a trial is FINISHED if it trained, KILLED if it does not train, FAILED if it did not run
    to its end.
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
        self._opened: _Opened | None = None

    @property
    def uri(self) -> str:
        """Where the store is, for people: without a password."""
        return without_password(self._uri)

    @property
    def is_local(self) -> bool:
        """Whether the store is a file of this machine: a call that takes long is then at work, not lost."""
        return self._uri.startswith("sqlite:")

    @property
    def run(self) -> str | None:
        """The id of the study's run, while the copy is open."""
        return self._opened and self._opened.parent.run_id

    def open(self, study: StudyFile, folder: StudyFolder, run: str | None) -> Iterator[None]:
        """Find the study's runs by its id, or make its parent run; `run` is what that was the last time, if known.

        Of runs that are there twice, because an answer came too late, all but one are put into MLflow's bin.
        """
        self._opened = None
        with store_calls(self._uri, "could not open the study's run"):
            check_sqlite(self._uri)
            client = MlflowClient(self._uri)
            experiment = kept_in(client, study, run) or experiment_for(client, study, self._artifacts)
            yield
            found = runs_of(client, experiment, study.study_id)
            yield
            parents = [each for each in found if TRIAL not in each.data.tags]
            parent = one_of(client, parents, run) or parent_run(client, experiment, study)
            children = by_number(client, found)
            yield from save_view(client, experiment)
            self._opened = _Opened(client, experiment, study, folder, CopiedRun(client, parent), children)
            yield

    def close(self) -> None:
        """Forget what is there, after an error: the next `open` looks again."""
        self._opened = None

    def running(self) -> Iterator[None]:
        """The search goes on: the study's run is running, and says what is searched."""
        opened = self._open()
        with store_calls(self._uri, "could not set the study's run running"):
            yield from opened.running()

    def write(self, record: TrialRecord) -> Iterator[None]:
        """A trial as it stands in its folder now: its run, with figures, curves and files."""
        opened = self._open()
        with store_calls(self._uri, f"could not take down trial {record.number}"):
            yield from opened.write(record)

    def conclude(self, summary: StudySummary, failed: str | None) -> Iterator[None]:
        """What the study came to: description, front, best policy, figures; `failed`: what ended it early."""
        opened = self._open()
        with store_calls(self._uri, "could not take down what the study came to"):
            yield from opened.conclude(summary, failed)

    def _open(self) -> "_Opened":
        if self._opened is None:
            raise TrackingError("no run is open in MLflow: call open first")
        return self._opened


class _Opened:
    """A study's runs: its parent and, by trial number, its children."""

    def __init__(
        self,
        client: MlflowClient,
        experiment: str,
        study: StudyFile,
        folder: StudyFolder,
        parent: CopiedRun,
        children: dict[int, CopiedRun],
    ) -> None:
        self._client = client
        self._experiment = experiment
        self._study = study
        self._info = study.info
        self._folder = folder
        self._data = workload_data(folder)
        self.parent = parent
        self._children = children

    def running(self) -> Iterator[None]:
        yield from self.parent.put(
            params=fields.study_params(self._info),
            tags=self._study_tags() | {_DESCRIPTION: _note(text.opening(self._info, self._links()))},
        )
        yield from self._use_data(self.parent)
        yield from self.parent.reopen()

    def write(self, record: TrialRecord) -> Iterator[None]:
        child, ended_ms = self._children.get(record.number), _ended_ms(record)
        copied = _hash(record.folder / name for name in _RESULTS)
        belongs = {_PARENT: self.parent.run_id, COPIED: copied}
        if child is not None and all(child.tags.get(key) == value for key, value in belongs.items()):
            return
        if child is None:
            child = self._child(record, ended_ms)
            yield
        metrics = fields.trial_metrics(record.outcome, self._info.speed.of(record.outcome))
        figures = [metric for metric in metrics if metric.key not in fields.CURVES]
        curves = [metric for metric in metrics if metric.key in fields.CURVES]
        yield from child.put(figures, fields.trial_params(record), self._trial_tags(record), ended_ms)
        yield from child.put_curves(curves, ended_ms)
        yield from child.upload([record.folder / name for name in _TRIAL_FILES])
        yield from self._use_data(child)
        yield from child.end(_STATUS[record.outcome.status], ended_ms)
        # Last of all: with this tag the run is complete.
        yield from child.put(tags={COPIED: copied})

    def conclude(self, summary: StudySummary, failed: str | None) -> Iterator[None]:
        confirmed = sorted(self._folder.path.glob("confirmed-*.json"))
        files = [*([summary.best_policy] if summary.best_policy else []), *summary.files, *confirmed]
        table, areas = fields.front_table(summary, self._info), hypervolume_by_trial(summary, self._info)
        # A picture of the same front may differ in its bytes.
        copied = _hash((file for file in files if file.suffix != ".png"), json.dumps([table, areas]))
        if self.parent.tags.get(COPIED) != copied:
            self._client.log_dict(self.parent.run_id, table, _FRONT_TABLE)
            yield
            yield from self.parent.upload(files)
            yield from self.parent.put_curves(areas, now_ms())
            if summary.best is not None and summary.best_policy is not None and summary.best_policy.is_file():
                yield from register_best(
                    self._client, self._info.name, self.parent.run_id, summary.best_policy, summary.best.digest
                )
        tags = {
            **self._study_tags(),
            **fields.summary_tags(summary),
            **hypervolume_tags(self._info),
            _DESCRIPTION: _note(text.closing(self._info, summary, failed, self._links())),
            # This tag is what makes MLflow's pages show the file as a table.
            "mlflow.loggedArtifacts": json.dumps(
                [{"path": name, "type": "table"} for name in (_FRONT_TABLE, *self._tables())]
            ),
            COPIED: copied,
        }
        yield from self.parent.put(fields.summary_metrics(summary), fields.study_params(self._info), tags)
        yield from self._use_data(self.parent)
        yield from self._compare(summary)
        for file in confirmed:
            yield from self._confirm(read_json(DeviceConfirmation, file), file)
        yield from self.parent.end("FINISHED" if failed is None else "FAILED")

    def _compare(self, summary: StudySummary) -> Iterator[None]:
        """What each trial lost against float32, its place and its name: only at the end is it known how well."""
        for point in summary.points:
            child = self._children.get(point.number)
            if child is not None:
                tags = fields.lost_tags(point) | rank_tags(point, summary)
                name = _note(run_name(point, summary))
                yield from child.put(fields.lost_metrics(point), tags=tags | {MLFLOW_RUN_NAME: name})

    def _confirm(self, found: DeviceConfirmation, file: Path) -> Iterator[None]:
        """What the shortlist came to on a device."""
        yield from self.parent.put(tags=confirmed_tag(found, file.name))
        for each in found.policies:
            child = None if each.trial is None else self._children.get(each.trial)
            if child is not None:
                yield from child.put(confirmed_metrics(each, found.device))

    def _child(self, record: TrialRecord, ended_ms: int) -> CopiedRun:
        started_ms = ended_ms - round(1000 * (record.outcome.trial_time_s or 0))
        tags = self._trial_tags(record)
        run = self._client.create_run(self._experiment, started_ms, tags, record.title)
        self._children[record.number] = child = CopiedRun(self._client, run, new=True)
        return child

    def _use_data(self, run: CopiedRun) -> Iterator[None]:
        """Name the workload's data; nothing where the study did not look at them."""
        if self._data is not None:
            yield from run.use(self._data)

    def _links(self) -> text.Links:
        run = f"#/experiments/{self._experiment}/runs/{self.parent.run_id}"
        report = f"{run}/artifacts/{self._folder.report.name}" if self._folder.report.is_file() else None
        return text.Links(view_link(self._experiment), report)

    def _tables(self) -> list[str]:
        return [file.name for file in (self._folder.layer_table, self._folder.cast_table) if file.is_file()]

    def _study_tags(self) -> dict[str, str]:
        return fields.study_tags(self._info) | {STUDY_ID: self._study.study_id}

    def _trial_tags(self, record: TrialRecord) -> dict[str, str]:
        return {
            **fields.trial_tags(record, self._info),
            STUDY_ID: self._study.study_id,
            _PARENT: self.parent.run_id,
            _DESCRIPTION: _note(text.trial(record)),
        }


def _hash(files: Iterable[Path], *texts: str) -> str:
    """One word for what the files hold; those that are not there are passed over."""
    parts = [f"{file.name}\n".encode() + file.read_bytes() for file in files if file.is_file()]
    parts += [each.encode() for each in texts]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]


def _note(markdown: str) -> str:
    return fields.shortened(markdown, fields.LONGEST_TAG, "the artifacts of this run")


def _ended_ms(record: TrialRecord) -> int:
    """When the trial wrote its outcome."""
    return round(1000 * (record.folder / "outcome.json").stat().st_mtime)
