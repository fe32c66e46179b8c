"""The saved view of MLflow's run list that shows what trials came to, the fastest first, and a link to it."""

import json
from collections.abc import Iterator

from mlflow import MlflowClient

from .tracking_runs import now_ms

# MLflow keeps a saved view in a tag of the experiment and opens it by the id at the end of the tag's name.
_TAG, _ID = "mlflow.sharedViewState.", "halfwise"
_STATE = {
    "searchFilter": "tags.`halfwise.kind` = 'trial'",
    "orderByKey": "metrics.`speed_samples_per_s`",
    "orderByAsc": False,
    "selectedColumns": [
        *("metrics.`speed_samples_per_s`", "metrics.`quality`", "metrics.`quality_lost`"),
        *("tags.`halfwise.cause`", "tags.`halfwise.chosen`", "tags.`halfwise.confirmed`"),
        *("tags.`halfwise.front_rank`", "tags.`halfwise.study`"),
    ],
}


def view_link(experiment: str) -> str:
    """Where MLflow's pages show the experiment's runs in the view: relative to their own address."""
    return f"#/experiments/{experiment}/runs?viewStateShareKey={_ID}"


def save_view(client: MlflowClient, experiment: str) -> Iterator[None]:
    """Give the experiment the view, unless it has one of that id: people may have made it theirs."""
    if _TAG + _ID not in client.get_experiment(experiment).tags:
        view = {"name": "halfwise: what the trials came to", "createdAt": now_ms(), "state": json.dumps(_STATE)}
        client.set_experiment_tag(experiment, _TAG + _ID, json.dumps(view))
        yield
