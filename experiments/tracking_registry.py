"""The policy that a study chose as a version of a registered model in MLflow, and how it is read from there.

The model is called as the study; the alias `best` stands for the version that is the choice now. A version keeps a
policy file of its own among the artifacts of the study's run, so that an older version stays what it was.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException

from ..policies import Policy, load_policy
from ..policies.errors import InputError
from ..policies.near_miss import hint
from .tracking_store import check_sqlite, store_calls
from .tracking_uri import check_uri, without_password

BEST = "best"
SCHEME = "mlflow:/"
_FOLDER = "policies"
_FILE, _DIGEST = "halfwise.file", "halfwise.digest"
_NAMED = re.compile(rf"{SCHEME}(?P<name>[^/@:]+)(?:@(?P<alias>[A-Za-z0-9_.-]+)|/(?P<version>[0-9]+))")
# What a version says of itself is anybody's: no other artifact is ever fetched.
_POLICY_FILE = re.compile(rf"{_FOLDER}/[0-9a-f]{{1,64}}\.yaml")
_NOT_THERE = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")


def register_best(client: MlflowClient, name: str, run_id: str, policy_file: Path, digest: str) -> Iterator[None]:
    """Make the policy the version that is called best; what is there already is left alone.

    Yields after each answer of the store, so that it may be broken off and done again.
    """
    now = _called_best(client, name)
    yield
    if now is not None and _is(now, run_id, digest):
        return
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        copy = Path(folder) / f"{digest}.yaml"
        copy.write_bytes(policy_file.read_bytes())
        client.log_artifact(run_id, str(copy), _FOLDER)
        yield
    _make_model(client, name)
    yield
    there = [each for each in client.search_model_versions(f"name='{name}'") if _is(each, run_id, digest)]
    yield
    file = f"{_FOLDER}/{digest}.yaml"
    version = there[0] if there else _new_version(client, name, run_id, file, digest)
    yield
    client.set_registered_model_alias(name, BEST, str(version.version))
    yield


def registered_policy(uri: str, tracking_uri: str) -> Policy:
    """The policy behind `mlflow:/STUDY@best` or `mlflow:/STUDY/VERSION` in the store at `tracking_uri`.

    Raises:
        InputError: the text is no such name, nothing is registered under it, or what is there is no policy.
        TrackingError: the store does not answer.
    """
    check_uri(tracking_uri)
    named = _NAMED.fullmatch(uri)
    if named is None:
        raise InputError(f"a policy in MLflow is {SCHEME}STUDY@best or {SCHEME}STUDY/VERSION, but got {uri!r}")
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        return load_policy(_fetched(named, tracking_uri, Path(folder)))


def _fetched(named: re.Match[str], tracking_uri: str, folder: Path) -> Path:
    where = without_password(tracking_uri)
    with store_calls(tracking_uri, "could not give the policy"):
        check_sqlite(tracking_uri)
        client = MlflowClient(tracking_uri)
        version = _version(client, named)
        models = [] if version else [model.name for model in client.search_registered_models()]
    if version is None:
        known = hint(named["name"], models) if named["name"] not in models else "; it has no such alias or version"
        raise InputError(f"nothing is registered as {named[0]} at {where}{known}")
    file = version.tags.get(_FILE, "")
    if _POLICY_FILE.fullmatch(file) is None or not version.run_id:
        raise InputError(f"{named[0]} at {where} is a model that halfwise did not register: it holds no policy")
    with store_calls(tracking_uri, "could not give the policy"):
        return Path(client.download_artifacts(version.run_id, file, str(folder)))


def _version(client: MlflowClient, named: re.Match[str]) -> ModelVersion | None:
    try:
        if named["alias"]:
            return client.get_model_version_by_alias(named["name"], named["alias"])
        return client.get_model_version(named["name"], named["version"])
    except MlflowException as error:
        if error.error_code in _NOT_THERE:
            return None
        raise


def _called_best(client: MlflowClient, name: str) -> ModelVersion | None:
    try:
        return client.get_model_version_by_alias(name, BEST)
    except MlflowException as error:
        if error.error_code in _NOT_THERE:
            return None
        raise


def _make_model(client: MlflowClient, name: str) -> None:
    try:
        client.create_registered_model(name, description="Precision policies of a halfwise study.")
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise


def _new_version(client: MlflowClient, name: str, run_id: str, file: str, digest: str) -> ModelVersion:
    source = f"{client.get_run(run_id).info.artifact_uri}/{file}"
    return client.create_model_version(name, source, run_id, tags={_FILE: file, _DIGEST: digest})


def _is(version: ModelVersion, run_id: str, digest: str) -> bool:
    return version.run_id == run_id and version.tags.get(_DIGEST) == digest
