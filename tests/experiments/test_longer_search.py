"""Searches as people run them whose trials get longer, and that keep to a budget."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from halfwise.policies import load_policy

SUPPORT = Path(__file__).parents[1] / "support"
PROGRAM = Path(sys.executable).with_name("halfwise")
GROWING = """\
schema: halfwise/experiment/1
workload: lasting_workloads:make_growing
levels: false
trials: 6
steps: 20
rungs: 2
full_runs: 4
confirm: none
speed: {priced: a100-tf32-no-launch}
"""
RANDOM = """\
schema: halfwise/experiment/1
workload: tiny_workloads:make_tiny
levels: false
sampler: random
steps: 20
confirm: none
"""


def command(folder: Path, text: str, *options: str) -> list[str]:
    """The command line of a search in a folder that holds the tests' workloads."""
    for name in ("tiny_workloads.py", "lasting_workloads.py"):
        (folder / name).write_text((SUPPORT / name).read_text(encoding="utf-8"))
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    return [str(PROGRAM), "search", "small.yaml", "--home", "home", "--no-mlflow", *options]


def search(folder: Path, text: str, *options: str) -> str:
    """Run a search to its end; what it printed."""
    line = command(folder, text, *options)
    result = subprocess.run(line, capture_output=True, text=True, cwd=folder, timeout=280, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def outcomes(folder: Path) -> list[dict[str, Any]]:
    """The outcomes on disk in the order of trials."""
    files = sorted((folder / "home" / "small" / "trials").glob("*/outcome.json"))
    return [json.loads(file.read_text()) for file in files]


def cost(folder: Path) -> dict[str, Any]:
    """What the study has cost."""
    return json.loads((folder / "home" / "small" / "cost.json").read_text())


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> tuple[Path, str]:
    """A search on a network that fails in float16 only after a whole short trial: its folder, what it printed."""
    folder = tmp_path_factory.mktemp("longer")
    return folder, search(folder, GROWING)


def test_the_best_policy_was_trained_longer_than_a_trial(searched):
    """What fails after the first length is found out (case 20); what is chosen has trained to the last one."""
    folder, printed = searched
    found = outcomes(folder)
    late = [each for each in found if each["status"] == "infeasible"]
    assert late
    assert all(20 < len(each["losses"]) < 60 for each in late)
    assert all(list(each["quality_by_steps"]) == ["20"] for each in late)
    policy = load_policy(folder / "home" / "small" / "best-policy.yaml")
    assert policy.results["steps"] == 60
    assert dict(policy.layers) == {"grow": "float32"}
    assert "was trained on and does not count any more: non-finite at step" in printed


def test_float32_goes_along(searched):
    """The float32 trial has a quality at every length that another one has."""
    found = outcomes(searched[0])
    float32 = next(each for each in found if each["policy_name"] == "O0")
    lengths = {steps for each in found for steps in each["quality_by_steps"]}
    assert set(float32["quality_by_steps"]) == lengths == {"20", "60"}


def test_the_end_says_why_and_what_it_cost(searched):
    """Trials, seconds and full-training equivalents; steps are those of every outcome and of what went before."""
    folder, printed = searched
    spent = cost(folder)
    found = outcomes(folder)
    trained = sum(each["steps_run"] for each in found)
    study = folder / "home" / "small"
    float32 = sum(map(len, json.loads((study / "float32.json").read_text())["losses"].values()))
    sensitivity = json.loads((study / "sensitivity.json").read_text())["steps_run"]
    assert spent["steps"] == trained + float32 + sensitivity
    assert f"What it cost: {len(found)} trials, " in printed
    assert f"{spent['steps'] / 300:.2f} full-training equivalents ({spent['steps']} training steps)." in printed
    assert "The search ended: nothing faster is left: " in printed


def test_nothing_is_kept_for_going_on_once_the_search_is_over(searched):
    """The saved states are gone."""
    assert list((searched[0] / "home").rglob("*.npz")) == []


@pytest.mark.full
def test_a_killed_search_goes_on_to_the_same_end(searched, tmp_path):
    """Killed in the middle of its longer trainings and started again, a study comes to the same outcomes."""
    line = command(tmp_path, GROWING)
    process = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    for text in process.stdout:
        if "was trained on" in text:
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(1)
    search(tmp_path, GROWING)
    names = ("policy", "status", "cause", "losses", "quality_by_steps")
    both = (searched[0], tmp_path)
    whole, in_two = ([{name: each[name] for name in names} for each in outcomes(folder)] for folder in both)
    assert in_two == whole


def test_a_time_limit_is_kept_to_within_one_trial(tmp_path):
    """Case 30: with the time up there is float32's own trial and no other; started again, nothing is trained."""
    printed = search(tmp_path, RANDOM, "--time-limit", "1s")
    assert len(outcomes(tmp_path)) == 1
    assert "The search ended: its time is up (time_limit: 1s)." in printed
    assert load_policy(tmp_path / "home" / "small" / "best-policy.yaml").default == "float32"
    spent = cost(tmp_path)
    assert "its time is up" in search(tmp_path, RANDOM, "--time-limit", "1s")
    assert cost(tmp_path)["steps"] == spent["steps"] == 20


@pytest.mark.full
def test_full_runs_are_never_exceeded(tmp_path):
    """With room for so many training steps the search ends before one more trial would exceed them."""
    printed = search(tmp_path, RANDOM, "--full-runs", "0.55")
    assert cost(tmp_path)["steps"] <= 0.55 * 300
    assert cost(tmp_path)["steps"] + 20 > 0.55 * 300
    assert "it would cost more than 0.55 full trainings of 300 steps (full_runs)" in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--time-limit", "5"], "--time-limit: must be a time above 0 with its unit, such as 90s, 20m or 1h30m"),
        (["--full-runs", "-1"], "--full-runs: "),
        (["--rungs", "0"], "--rungs: must be auto or a whole number from 1 to 6, but got '0'"),
        (["--patience", "0"], "--patience: "),
    ],
)
def test_bad_bounds_are_refused_before_anything_runs(tmp_path, options, words):
    """Exit code 2, and one line that names the option and the rule."""
    result = subprocess.run(
        command(tmp_path, RANDOM, *options), capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert result.returncode == 2
    assert words in result.stderr
    assert not (tmp_path / "home" / "small").exists()
