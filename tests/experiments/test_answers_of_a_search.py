"""What a study answers after its search, and what is trained again on a device, as people run it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from halfwise.policies import load_policy

pytestmark = pytest.mark.full

SUPPORT = Path(__file__).parents[1] / "support"
EXPERIMENT = """\
schema: halfwise/experiment/1
workload: tiny_workloads:make_overflowing
levels: false
trials: 2
rungs: 1
confirm: none
speed_budget_s: 0.5
speed: {priced: a100-tf32-no-launch}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a study of float32 and one policy more, taken down in MLflow."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    (folder / "first.yaml").write_text(EXPERIMENT, encoding="utf-8")
    result = run(folder, "search", "first.yaml")
    assert result.returncode == 0, result.stderr
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """One command of the program, with the folder's own home."""
    program = Path(sys.executable).with_name("halfwise")
    line = [program, *command, "--home", "home"]
    return subprocess.run(line, capture_output=True, text=True, cwd=folder, timeout=280, check=False)


def results_of(folder: Path, file: str) -> Any:
    """What a policy file says of itself."""
    return load_policy(folder / file).results


@pytest.fixture(scope="module")
def predicted(place: Path) -> str:
    """What is printed for a policy that the study predicts; one that nobody has tried."""
    result = run(place, "export", "first", "--min-speedup", "1.05", "-o", "predicted.yaml")
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_search_says_what_is_left(place: Path):
    """The bound stands at the end of the front, and in the policy's file."""
    printed = run(place, "front", "first").stdout
    assert "of priced speed is left above trial 1 (not confirmed)" in printed
    assert 0 <= results_of(place, "home/first/best-policy.yaml")["priced_speed_left"] < 1


def test_a_prediction_is_confirmed_on_demand(place: Path, predicted: str):
    """First it says predicted, not trained; with --confirm the same policy has measured figures instead."""
    assert "predicted, not trained" in predicted
    before = load_policy(place / "predicted.yaml")
    assert before.results["is"] == "predicted, not trained"
    result = run(place, "export", "first", "--min-speedup", "1.05", "-o", "confirmed.yaml", "--confirm")
    assert result.returncode == 0, result.stderr
    after = load_policy(place / "confirmed.yaml")
    results: Any = after.results
    assert after.digest == before.digest
    assert results["quality_lost"]["seeds"] == 3
    assert "is" not in results
    assert after.asked_hash is not None


def test_the_shortlist_is_confirmed_on_the_device(place: Path):
    """Quality lost and measured speed are kept with the study and in MLflow; the price stands beside them."""
    result = run(place, "confirm", "first", "--steps", "20")
    assert result.returncode in (0, 1), result.stderr
    assert "trial 1 on CPU, against float32 with the same seeds:" in result.stdout
    assert "measured on CPU by CPU time" in result.stdout
    assert "priced on a100-tf32-no-launch, not measured" in result.stdout
    kept = json.loads((place / "home" / "first" / "confirmed-CPU.json").read_text())
    (policy,) = kept["policies"]
    assert policy["trial"] == 1
    assert policy["comparison"]["device"] == "CPU"
    assert policy["confirmation"]["steps"] == 20
    assert (result.returncode == 0) == ("too much" not in result.stdout)
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{place}/home/mlflow.db")
    parent = client.get_run(json.loads((place / "home" / "first" / "tracking.json").read_text())["run"])
    tags = parent.data.tags
    assert "trial 1" in tags["halfwise.confirmed_on.CPU"]
    runs = client.search_runs([parent.info.experiment_id])
    metrics = next(run.data.metrics for run in runs if run.data.tags.get("halfwise.trial") == "001")
    assert metrics["confirmed_on_CPU_speed_ratio"] == pytest.approx(policy["comparison"]["cpu"]["median"])


def test_policies_are_confirmed_without_a_study(place: Path):
    """A level that overflows does not hold: exit code 1, with seed, cause and no speed."""
    result = run(place, "confirm", "O3", "--workload", "tiny_workloads:make_overflowing", "--steps", "10")
    assert result.returncode == 1, result.stderr
    assert "O3 on CPU, against float32 with the same seeds:" in result.stdout
    assert "does not train for 10 steps with seed 2: non-finite at step 0" in result.stdout
    assert "speed not measured: it does not train" in result.stdout


def test_a_study_starts_from_another(place: Path):
    """The new study says what it knows, counts its own trials only, and goes on with the same start only."""
    result = run(place, "search", "first.yaml", "--study", "second", "--warm-start", "first", "--no-mlflow")
    assert result.returncode == 0, result.stderr
    assert "5 of 5 sites known from first" in result.stdout
    sites = json.loads((place / "home" / "second" / "sites.json").read_text())
    assert sites["warm_start"] == "first"
    assert len(sites["earlier"]) == 1
    assert len(list((place / "home" / "second" / "trials").iterdir())) == 2
    changed = run(place, "search", "first.yaml", "--study", "second", "--no-mlflow")
    assert changed.returncode == 2
    assert "warm start: was first, is now without these" in changed.stderr


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["export", "first", "--min-speedup", "9"], "ask for --min-speedup 1."),
        (["export", "first", "--rule", "best", "--min-speedup", "2"], "--rule names a trial: give it, or"),
        (["export", "first", "--confirm"], "--confirm trains an answer: ask with --min-speedup"),
        (
            ["export", "first", "--max-quality-drop", "500%"],
            "must be at least 0 and below 1, such as 0.005",
        ),
        (["export", "first", "--min-speedup", "0.5"], "0.5 is not in the range x>1"),
        (["confirm", "O3", "O2"], "say what these policies are for with --workload, or name one study"),
        (["confirm", "frist"], "there is no study 'frist' in"),
        (["search", "first.yaml", "--study", "third", "--warm-start", "frist"], "there is no study 'frist' in"),
    ],
    ids=[
        "unreachable",
        "rule-and-target",
        "nothing-asked",
        "share",
        "slower",
        "no-workload",
        "no-study",
        "no-start",
    ],
)
def test_what_cannot_be_is_one_clear_line(place: Path, command: list[str], message: str):
    """Exit code 2, and what to do instead."""
    result = run(place, *command)
    assert result.returncode == 2
    assert message in result.stderr
