"""What a study's shortlist came to on a device, in MLflow: a file with the study, figures with each trial."""

import time
from collections.abc import Iterator
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Metric

from .device_confirmation import ConfirmedPolicy, DeviceConfirmation
from .tracking_fields import LONGEST_TAG, shortened
from .tracking_store import store_calls


def log_confirmed(uri: str, study_run: str, found: DeviceConfirmation, file: Path) -> None:
    """Upload the file to the study's run, tag it with the verdicts, and add the figures to its trials' runs.

    Raises:
        TrackingError: the store does not answer, or refuses.
    """
    with store_calls(uri, "could not take down what was confirmed"):
        client = MlflowClient(uri)
        client.log_artifact(study_run, str(file))
        verdicts = "; ".join(f"{each.name} {each.confirmation}" for each in found.policies)
        tag = f"halfwise.confirmed_on.{found.device}"
        client.set_tag(study_run, tag, shortened(verdicts, LONGEST_TAG, file.name))
        experiment = client.get_run(study_run).info.experiment_id
        for each in found.policies:
            for run in _runs(client, experiment, study_run, each):
                client.log_batch(run, list(_metrics(each, found.device)))


def _runs(client: MlflowClient, experiment: str, study_run: str, each: ConfirmedPolicy) -> list[str]:
    """The run of the policy's trial."""
    if each.trial is None:
        return []
    mine = f"tags.mlflow.parentRunId = '{study_run}' and tags.`halfwise.trial` = '{each.trial:03d}'"
    return [run.info.run_id for run in client.search_runs([experiment], mine)]


def _metrics(each: ConfirmedPolicy, device: str) -> Iterator[Metric]:
    """Only what was measured; a figure that is not known is left out."""
    lost, speed = each.confirmation.lost, each.comparison
    figures = {
        "quality_lost": lost and lost.mean,
        "quality_lost_low": lost and lost.low,
        "quality_lost_high": lost and lost.high,
        "speed_ratio": speed and speed.judged.median,
        "speed_ratio_low": speed and speed.judged.low,
        "speed_ratio_high": speed and speed.judged.high,
    }
    at_ms = round(1000 * time.time())
    for name, value in figures.items():
        if value is not None:
            yield Metric(f"confirmed_on_{device}_{name}", value, at_ms, 0)
