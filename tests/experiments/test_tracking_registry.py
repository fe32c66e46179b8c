"""The best policy in MLflow's model registry, in a database and at a server: written once, moved, read back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow_servers import MlflowServer

from halfwise.experiments import load_policy
from halfwise.experiments.home import Home
from halfwise.experiments.tracking import TrackingError
from halfwise.experiments.tracking_registry import register_best
from halfwise.policies import BUILTIN, Policy, save_policy
from halfwise.policies.errors import InputError


@pytest.fixture(scope="module", params=["sqlite", pytest.param("server", marks=pytest.mark.full)])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store's URI: a database of its own, or a real server."""
    folder = tmp_path_factory.mktemp("registry")
    if request.param == "sqlite":
        home = Home(folder)
        home.prepare()
        yield home.tracking_uri
        return
    server = MlflowServer(folder)
    server.start()
    try:
        yield server.url
    finally:
        server.kill()


@pytest.fixture
def run(store: str, tmp_path: Path) -> str:
    """A run in an experiment of its own."""
    client = MlflowClient(store)
    place = None if store.startswith("http") else (tmp_path / "artifacts").as_uri()
    return client.create_run(client.create_experiment(tmp_path.name, place)).info.run_id


def register(store: str, name: str, run: str, policy: Policy, folder: Path) -> int:
    """Register it as the study's best; how many answers it took."""
    file = folder / "best-policy.yaml"
    save_policy(policy, file)
    return sum(1 for _ in register_best(MlflowClient(store), name, run, file, policy.digest))


def test_the_best_policy_is_loaded_by_the_studys_name(store: str, run: str, tmp_path: Path):
    """It comes back with its provenance; a later choice takes the alias, and the old version stays what it was."""
    first = BUILTIN["O2"].replace(reasons={"head": "trial 3 failed there"})
    register(store, "moved", run, first, tmp_path)
    assert load_policy("mlflow:/moved@best", store) == first
    register(store, "moved", run, BUILTIN["O1"], tmp_path)
    assert load_policy("mlflow:/moved@best", store) == BUILTIN["O1"]
    assert load_policy("mlflow:/moved/1", store) == first


def test_nothing_is_registered_twice(store: str, run: str, tmp_path: Path):
    """The same choice again is one look; a choice that comes back takes its old version."""
    client = MlflowClient(store)
    register(store, "again", run, BUILTIN["O2"], tmp_path)
    assert register(store, "again", run, BUILTIN["O2"], tmp_path) == 1
    register(store, "again", run, BUILTIN["O1"], tmp_path)
    register(store, "again", run, BUILTIN["O2"], tmp_path)
    assert len(client.search_model_versions("name='again'")) == 2
    assert str(client.get_model_version_by_alias("again", "best").version) == "1"


@pytest.mark.parametrize("answers", range(1, 6))
def test_what_was_broken_off_is_completed(store: str, run: str, tmp_path: Path, answers: int):
    """After any answer: done again, there is one version, and it is the best."""
    name, file = f"broken-{answers}-{tmp_path.name[-20:]}", tmp_path / "best-policy.yaml"
    save_policy(BUILTIN["O3"], file)
    steps = register_best(MlflowClient(store), name, run, file, BUILTIN["O3"].digest)
    for _ in range(answers):
        next(steps)
    register(store, name, run, BUILTIN["O3"], tmp_path)
    assert len(MlflowClient(store).search_model_versions(f"name='{name}'")) == 1
    assert load_policy(f"mlflow:/{name}@best", store) == BUILTIN["O3"]


def test_the_store_may_stand_in_the_environment(store: str, run: str, tmp_path: Path, monkeypatch):
    """MLFLOW_TRACKING_URI is where it is looked for; a file is a file all the same."""
    register(store, "elsewhere", run, BUILTIN["O2"], tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    assert load_policy("mlflow:/elsewhere@best") == BUILTIN["O2"]
    assert load_policy(tmp_path / "best-policy.yaml") == BUILTIN["O2"]


def test_loading_prints_nothing(store: str, run: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """A training script's own output stays its own."""
    register(store, "quiet", run, BUILTIN["O2"], tmp_path)
    capfd.readouterr()
    load_policy("mlflow:/quiet@best", store)
    assert capfd.readouterr() == ("", "")


def test_what_is_not_registered_is_refused(store: str, run: str, tmp_path: Path):
    """Another name, alias or version, another's model, and what is no name at all: one clear error each."""
    register(store, "digits", run, BUILTIN["O2"], tmp_path)
    client = MlflowClient(store)
    client.create_registered_model("theirs")
    source = client.get_run(run).info.artifact_uri
    assert source is not None
    client.create_model_version("theirs", source, run, tags={"halfwise.file": "../../secret.yaml"})
    for uri, words in {
        "mlflow:/digit@best": "nothing is registered as mlflow:/digit@best at .*did you mean 'digits'",
        "mlflow:/digits@worst": "nothing is registered as mlflow:/digits@worst .*it has no such alias or version",
        "mlflow:/digits/99": "it has no such alias or version",
        "mlflow:/theirs/1": "a model that halfwise did not register",
        "mlflow:/digits": "a policy in MLflow is mlflow:/STUDY@best or mlflow:/STUDY/VERSION, but got",
    }.items():
        with pytest.raises(InputError, match=words):
            load_policy(uri, store)


def test_a_store_that_is_not_there_is_said(monkeypatch):
    """Nobody listens at the address: one line that names it, in a bounded time."""
    with pytest.raises(TrackingError, match=r"MLflow at http://127\.0\.0\.1:9 could not give the policy"):
        load_policy("mlflow:/digits@best", "http://127.0.0.1:9")
