"""One run in MLflow: only what it does not hold yet is written, so nothing is there twice."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, Metric, Param, Run, RunTag

from .tracking_fields import MetricValue

_PER_CALL = 1000


class CopiedRun:
    """A run and what it is known to hold. Each method is a generator; it yields after each answer."""

    def __init__(self, client: MlflowClient, run: Run, new: bool = False) -> None:
        """`run` as the store has given it; of a `new` one it is known that it holds no curves."""
        self._client = client
        self.run_id: str = run.info.run_id
        self.tags: Mapping[str, str] = dict(run.data.tags)
        self._status, self._ended_ms = run.info.status, run.info.end_time
        self._metrics = dict(run.data.metrics)
        self._params = dict(run.data.params)
        self._steps: dict[str, set[int]] | None = {} if new else None
        self._has_dataset = bool(run.inputs and run.inputs.dataset_inputs)

    def put(
        self,
        metrics: Sequence[MetricValue] = (),
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
        at_ms: int | None = None,
    ) -> Iterator[None]:
        """Write figures, params and tags; a figure that is there with another value is written over.

        New figures are of the time `at_ms`, by default now. MLflow lets no param change.
        """
        points = [
            Metric(key, value, now_ms() if at_ms is None or key in self._metrics else at_ms, step)
            for key, value, step in metrics
            if self._metrics.get(key) != value
        ]
        new_params = {key: value for key, value in (params or {}).items() if key not in self._params}
        new_tags = {key: value for key, value in (tags or {}).items() if self.tags.get(key) != value}
        if points or new_params or new_tags:
            yield from self._batches(points, new_params, new_tags)
        self._metrics |= {point.key: point.value for point in points}
        self._params |= new_params
        self.tags = {**self.tags, **new_tags}

    def put_curves(self, metrics: Sequence[MetricValue], at_ms: int) -> Iterator[None]:
        """Write the steps that the run's curves do not have yet."""
        keys = sorted({metric.key for metric in metrics})
        if self._steps is None:
            self._steps = {}
            for key in keys:
                history = self._client.get_metric_history(self.run_id, key)
                self._steps[key] = {point.step for point in history}
                yield
        missing = [metric for metric in metrics if metric.step not in self._steps.get(metric.key, ())]
        if missing:
            yield from self._batches([Metric(key, value, at_ms, step) for key, value, step in missing], {}, {})
        for metric in missing:
            self._steps.setdefault(metric.key, set()).add(metric.step)

    def upload(self, files: Sequence[Path]) -> Iterator[None]:
        """Upload those of the files that exist, in place of older ones."""
        for path in files:
            if path.is_file():
                self._client.log_artifact(self.run_id, str(path))
                yield

    def use(self, dataset: Dataset) -> Iterator[None]:
        """Name the data that the run was made with, unless some are named already."""
        if not self._has_dataset:
            self._client.log_inputs(self.run_id, [DatasetInput(dataset)])
            self._has_dataset = True
            yield

    def end(self, status: str, at_ms: int | None = None) -> Iterator[None]:
        """Close the run, at a time if that matters."""
        if self._status != status or at_ms not in (None, self._ended_ms):
            self._client.set_terminated(self.run_id, status, at_ms)
            self._status, self._ended_ms = status, at_ms
            yield

    def reopen(self) -> Iterator[None]:
        """Set the run running."""
        if self._status != "RUNNING":
            self._client.update_run(self.run_id, status="RUNNING")
            self._status = "RUNNING"
            yield

    def _batches(
        self, points: Sequence[Metric], params: Mapping[str, str], tags: Mapping[str, str]
    ) -> Iterator[None]:
        # Params and tags take places of the same batch.
        first = _PER_CALL - len(params) - len(tags)
        run_params = [Param(key, value) for key, value in params.items()]
        run_tags = [RunTag(key, value) for key, value in tags.items()]
        self._client.log_batch(self.run_id, points[:first], run_params, run_tags)
        yield
        for start in range(first, len(points), _PER_CALL):
            self._client.log_batch(self.run_id, points[start : start + _PER_CALL])
            yield


def now_ms() -> int:
    """The time as MLflow counts it: milliseconds since 1970."""
    return round(1000 * time.time())
