"""Searches in which something about quality is odd: each ends with one clear sentence, and nothing is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from finished_study import lost_in_policy_file

from halfwise.experiments.home import StudyFolder
from halfwise.policies import load_policy

SUPPORT = Path(__file__).parents[1] / "support"
ROW = "a100-tf32-no-launch"


def write_experiment(folder: Path, workload: str, **fields: object) -> Path:
    """A short experiment on a workload of tests/support, in a folder that holds these."""
    for module in ("tiny_workloads.py", "noisy_workloads.py"):
        (folder / module).write_text((SUPPORT / module).read_text(encoding="utf-8"), encoding="utf-8")
    document = {
        "schema": "halfwise/experiment/1",
        "workload": workload,
        "levels": False,
        "steps": 20,
        "speed": {"priced": ROW},
        "confirm": "none",
    }
    file = folder / "odd.yaml"
    file.write_text(json.dumps({**document, **fields}), encoding="utf-8")
    return file


def search(folder: Path, workload: str, **fields: object) -> subprocess.CompletedProcess[str]:
    """Run such a search."""
    file = write_experiment(folder, workload, **fields)
    command = [Path(sys.executable).with_name("halfwise"), "search", file.name, "--home", "home", "--no-mlflow"]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=580, check=False)


def test_one_group_that_may_go_low_for_nothing(tmp_path):
    """With one layer to decide on both policies are tried; low trains but is slower: float32 stays (case 25)."""
    result = search(tmp_path, "noisy_workloads:make_one_group", trials=9, sampler="exhaustive")
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(tmp_path / "home" / "odd" / "front.csv")
    low = table.index[table["policy"] != "O0"][-1]
    assert len(table) <= 3
    assert table["against_float32"][low] < 1
    assert f"Everything may go low: trial {low} loses" in result.stdout
    assert "Chosen: no policy within" in result.stdout
    assert "is faster than float32" in result.stdout
    assert load_policy(tmp_path / "home" / "odd" / "best-policy.yaml").default == "float32"


@pytest.mark.full
def test_a_ladder_without_rungs_says_so(tmp_path):
    """Where nothing is priced faster than float32 the ladder tries nothing else, and the choice says just that."""
    result = search(tmp_path, "noisy_workloads:make_one_group", trials=9)
    assert result.returncode == 0, result.stderr
    assert "Chosen: nothing but float32 was tried" in result.stdout


def test_nothing_may_go_low(tmp_path):
    """Where every low policy fails, float32 stays, the cause is counted, and the search ends without an error."""
    result = search(tmp_path, "noisy_workloads:make_nothing_low", trials=5, sampler="random", levels=True)
    assert result.returncode == 0, result.stderr
    assert "no policy but float32 trains" in result.stdout
    assert "non-finite at step 0" in result.stdout
    assert "float32 stays" in result.stdout
    assert load_policy(tmp_path / "home" / "odd" / "best-policy.yaml").default == "float32"


def test_no_trial_gives_a_quality(tmp_path):
    """With a metric that is never a number nothing is chosen, and every trial is kept with its cause (case 23)."""
    result = search(tmp_path, "tiny_workloads:make_nan_quality", trials=3, sampler="random")
    assert result.returncode == 0, result.stderr
    assert (
        "Nothing was chosen: float32 does not train (accuracy is nan), and no other trial trains" in result.stdout
    )
    table = pd.read_csv(tmp_path / "home" / "odd" / "front.csv")
    assert list(table["cause"]) == ["accuracy is nan"] * 3
    assert not table["on_front"].any()


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (
            "make_dirty",
            "float32 does not train with seed 1 (non-finite at step 3: the data are dirty, batch 3 holds nan in "
            "input 0, row 5, column 1 (2 such values in that array)), so there is nothing to compare",
        ),
        pytest.param(
            "make_two_values",
            "float32 does not train with seed 1 (evaluate() must give one number, the accuracy, but gave (0.",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_float32_that_does_not_train_is_said_at_once(tmp_path, workload, words):
    """Before any trial the search stops with what is wrong: dirty data, a metric of two values (cases 19, 23)."""
    result = search(tmp_path, f"noisy_workloads:{workload}", trials=4)
    assert result.returncode == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert list((tmp_path / "home" / "odd").glob("trials/*")) == []


@pytest.mark.full
def test_a_metric_that_never_moves_is_named(tmp_path):
    """The search goes through, and says that this metric can tell no policy from another."""
    result = search(tmp_path, "noisy_workloads:make_constant", trials=3)
    assert result.returncode == 0, result.stderr
    assert "accuracy is 0.5 in every one of" in result.stdout
    assert "such a metric tells no policy from another" in result.stdout


@pytest.mark.full
def test_a_metric_where_less_is_better_goes_all_the_way(tmp_path):
    """Noise, tolerance, choice, confirmation and files of a metric that is minimised agree with each other."""
    workload = "noisy_workloads:make_lower"
    result = search(tmp_path, workload, trials=5, levels=True, rungs=1, confirm="choice")
    assert result.returncode == 0, result.stderr
    study = tmp_path / "home" / "odd"
    table = pd.read_csv(study / "front.csv").set_index("trial")
    float32 = table["error"][0]
    confirmed = table.index[table["confirmed"] == True]  # noqa: E712
    unconfirmed = table.drop(index=[0, *confirmed]).dropna(subset=["quality_lost"])
    assert len(unconfirmed) > 0
    assert (unconfirmed["quality_lost"] - (unconfirmed["error"] - float32)).abs().max() < 1e-9
    (file,) = study.glob("trials/*/confirmation.json")
    losses = json.loads(file.read_text())["quality_lost"]
    number = int(file.parent.name)
    assert table["quality_lost"][number] == pytest.approx(sum(losses.values()) / 3)
    assert load_policy(study / "best-policy.yaml").results["trial"] == number
    assert lost_in_policy_file(StudyFolder(study))["mean"] == pytest.approx(table["quality_lost"][number])


CRASH = """
import sys
from pathlib import Path
from halfwise.experiments.experiment_file import load_experiment
from halfwise.experiments.home import Home
from halfwise.experiments.progress import Lines
from halfwise.experiments.runner import Launch, run_search
from halfwise.experiments.tracking import NoTracker

class Raising(NoTracker):
    def log_trial(self, record):
        if record.number == 2:
            raise RuntimeError("the lights went out")

file = Path(sys.argv[1])
launch = Launch(load_experiment(file, {}), "odd", file.parent, Home(file.parent / "home"), "halfwise search")
run_search(launch, Raising(), Lines(print))
"""


def test_what_was_found_before_an_error_is_kept(tmp_path):
    """An error in the middle leaves all finished trials, front and best policy; the study goes on (case 29)."""
    file = write_experiment(tmp_path, "tiny_workloads:make_tiny", trials=4, sampler="random")
    run = [sys.executable, "-c", CRASH, str(file)]
    crashed = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, timeout=580, check=False)
    assert crashed.returncode == 1
    assert "the lights went out" in crashed.stderr
    study = tmp_path / "home" / "odd"
    before = {file: file.read_bytes() for file in study.glob("trials/*/outcome.json")}
    assert len(before) == 3
    assert len(pd.read_csv(study / "front.csv")) == 3
    assert load_policy(study / "best-policy.yaml").results["study"] == "odd"
    result = search(tmp_path, "tiny_workloads:make_tiny", trials=4, sampler="random")
    assert result.returncode == 0, result.stderr
    assert {file: file.read_bytes() for file in before} == before
    assert len(pd.read_csv(study / "front.csv")) == 4


@pytest.mark.full
def test_another_network_is_refused_with_the_difference(tmp_path):
    """A study over sites does not go on with another network: what was and what is are both named (case 26)."""
    assert search(tmp_path, "noisy_workloads:make_one_group", trials=2).returncode == 0
    before = (tmp_path / "home" / "odd" / "front.csv").read_bytes()
    result = search(tmp_path, "tiny_workloads:make_tiny", trials=3)
    assert result.returncode == 2
    assert "only" in result.stderr
    assert "first" in result.stderr
    assert "Traceback" not in result.stderr
    assert (tmp_path / "home" / "odd" / "front.csv").read_bytes() == before
