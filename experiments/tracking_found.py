"""Where a study's runs are in an MLflow store: found by its id, made where they are missing, never twice."""

from mlflow import MlflowClient
from mlflow.entities import Run
from mlflow.exceptions import MlflowException

from . import tracking_fields as fields
from .study_file import StudyFile
from .tracking import TrackingError
from .tracking_runs import CopiedRun

STUDY_ID, TRIAL, COPIED = "halfwise.study_id", "halfwise.trial", "halfwise.copied"
"""Tags: whose run it is, which trial's, and what of the study's folder it is a whole copy of."""


def experiment_for(client: MlflowClient, study: StudyFile, artifacts: str | None) -> str:
    """The experiment of the study's workload, made if it is not there; `artifacts` is where it keeps them then.

    Raises:
        TrackingError: it was deleted, and lies in MLflow's bin.
    """
    name = f"halfwise/{study.info.workload}"
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


def parent_run(client: MlflowClient, experiment: str, study: StudyFile) -> Run:
    """A new run for the study itself."""
    tags = {STUDY_ID: study.study_id, **fields.study_tags(study.info)}
    return client.create_run(experiment, tags=tags, run_name=study.info.name)


def kept_in(client: MlflowClient, study: StudyFile, run_id: str | None) -> str | None:
    """The experiment where the study's run was the last time, whatever it is called by now."""
    if run_id is None:
        return None
    try:
        run = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":
            return None
        raise
    is_ours = run.info.lifecycle_stage == "active" and run.data.tags.get(STUDY_ID) == study.study_id
    return run.info.experiment_id if is_ours else None


def runs_of(client: MlflowClient, experiment: str, study_id: str) -> list[Run]:
    """Parent and children of a study, whatever their state; those in the bin aside."""
    found: list[Run] = []
    token = None
    while True:
        page = client.search_runs([experiment], f"tags.`{STUDY_ID}` = '{study_id}'", page_token=token)
        found += page
        token = page.token
        if not token:
            return found


def by_number(client: MlflowClient, runs: list[Run]) -> dict[int, CopiedRun]:
    """The runs of trials by number, one for each; what is there twice goes into MLflow's bin."""
    numbered: dict[int, list[Run]] = {}
    for run in runs:
        if number := run.data.tags.get(TRIAL):
            numbered.setdefault(int(number), []).append(run)
    chosen = {number: one_of(client, each) for number, each in sorted(numbered.items())}
    return {number: CopiedRun(client, run) for number, run in chosen.items() if run is not None}


def one_of(client: MlflowClient, runs: list[Run], known: str | None = None) -> Run | None:
    """The run that is known, or else the most complete one, while all others go into the bin; None of none."""
    if not runs:
        return None
    best, *others = sorted(
        runs, key=lambda run: (run.info.run_id != known, COPIED not in run.data.tags, run.info.run_id)
    )
    for other in others:
        client.delete_run(other.info.run_id)
    return best
