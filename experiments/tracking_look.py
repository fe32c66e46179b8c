"""Looks whether an MLflow store answers, and makes none."""

from pathlib import Path
from urllib.parse import unquote

from mlflow import MlflowClient

from .tracking_store import check_sqlite, store_calls
from .tracking_uri import check_uri, is_server


def look_at_store(uri: str) -> str:
    """What stands there in words, such as "a database"; a file that is not there yet is left to the first search.

    Raises:
        InputError: MLflow takes no such URI.
        TrackingError: it does not answer, cannot be written to, or holds something else.
    """
    check_uri(uri)
    path = unquote(uri.removeprefix("sqlite:///").partition("?")[0])
    if uri.startswith("sqlite:///") and not Path(path).exists():
        return "a database that the first search will make"
    with store_calls(uri, "cannot be used"):
        check_sqlite(uri)
        MlflowClient(uri).search_experiments(max_results=1)
    return "a server that answers" if is_server(uri) else "a database that opens"
