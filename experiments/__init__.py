"""Searches from their files to their answers, what they leave on disk and in MLflow, and the command line."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..policies import Policy

__all__ = ["load_policy"]


def load_policy(source: str | os.PathLike[str], tracking_uri: str | None = None) -> "Policy":
    """A policy from a file, or from MLflow's model registry: `mlflow:/STUDY@best`, `mlflow:/STUDY/VERSION`.

    `tracking_uri` is the MLflow store; by default that of MLFLOW_TRACKING_URI, else the home's own
    (HALFWISE_HOME, or `halfwise-studies` in the working folder).

    Raises:
        InputError: there is no such policy, or it is none.
        TrackingError: the MLflow store does not answer.
    """
    from ..policies import load_policy as from_file

    text = os.fspath(source)
    if not text.startswith("mlflow:/"):
        return from_file(text)
    from .home import Home
    from .tracking_registry import registered_policy

    return registered_policy(
        text, tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or Home.find(None).tracking_uri
    )
