"""A search with the ladder as people run it, on a tiny network that overflows at one product."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from halfwise.policies import load_policy

SUPPORT = Path(__file__).parents[1] / "support"
EXPERIMENT = """\
schema: halfwise/experiment/1
workload: tiny_workloads:make_overflowing
levels: false
trials: 6
steps: 20
speed: {priced: a100-tf32-no-launch}
"""


def search(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a search in a folder that holds the tiny workloads."""
    (folder / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    program = Path(sys.executable).with_name("halfwise")
    command = [program, "search", "small.yaml", "--home", "home", "--no-mlflow", *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=280, check=False)


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> tuple[Path, str]:
    """The study's folder, and what the search printed."""
    folder = tmp_path_factory.mktemp("ladder")
    result = search(folder, EXPERIMENT)
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


def test_the_hazard_stays_float32_and_the_rest_goes_low(searched):
    """The best policy keeps the overflowing product, and the sum before it, in float32, and nothing else."""
    policy = load_policy(searched[0] / "home" / "small" / "best-policy.yaml")
    assert policy.default == "float16"
    assert dict(policy.layers) == {"::Add": "float32", "square": "float32"}


def test_the_policy_says_why(searched):
    """The rule for the product carries the values of the float32 run that float16 cannot hold."""
    policy = load_policy(searched[0] / "home" / "small" / "best-policy.yaml")
    assert "in Mul" in policy.reasons["square"]
    assert "chance of harm 0.9" in policy.reasons["square"]


def test_noise_and_confirmation_are_said_and_kept(searched):
    """Float32 and the chosen policy are kept by seed, fresh seeds for the policy; the output says all of it."""
    folder, printed = searched
    study = folder / "home" / "small"
    float32 = json.loads((study / "float32.json").read_text())["qualities"]
    assert sorted(float32) == ["1", "2", "3"]
    (file,) = study.glob("trials/*/confirmation.json")
    confirmation = json.loads(file.read_text())
    assert sorted(confirmation["quality_lost"]) == ["2", "3", "4"]
    longest = max(len(json.loads(o.read_text())["losses"]) for o in study.glob("trials/*/outcome.json"))
    assert confirmation["steps"] == max(longest, 40)
    (long_float32,) = study.glob("confirming/float32-*-steps.json")
    assert sorted(json.loads(long_float32.read_text())["qualities"]) == ["2", "3", "4"]
    assert "float32 differs by" in printed
    assert "3 fresh seeds), 40 steps each" in printed
    assert "on it, confirmed" in printed


def test_the_sensitivities_put_the_hazard_first(searched):
    """What the float32 run said of the product is kept, and says that it is likely to do harm."""
    sensitivity = json.loads((searched[0] / "home" / "small" / "sensitivity.json").read_text())
    effects = {group["name"]: group["alone"] for group in sensitivity["groups"]}
    assert [effect["finite"] for effect in effects["square"]] == [False]
    assert [effect["finite"] for effect in effects["first"]] == [True]


@pytest.mark.full
def test_a_study_goes_on_with_what_it_knew(searched):
    """Started again, the study trains neither float32's seeds nor the sensitivities anew, and repeats no trial."""
    folder, _ = searched
    before = {file: file.stat().st_mtime_ns for file in (folder / "home" / "small").glob("*.json")}
    result = search(folder, EXPERIMENT)
    assert result.returncode == 0, result.stderr
    assert "looking at the values" not in result.stdout
    kept = ("float32.json", "sensitivity.json")
    assert all(file.stat().st_mtime_ns == time for file, time in before.items() if file.name in kept)


def test_a_tolerance_below_the_noise_is_refused(searched):
    """Asked for less than float32's own spread, the search names the number that would work and stops."""
    folder, _ = searched
    result = search(folder, EXPERIMENT + "tolerance: 0.0001\n")
    assert result.returncode == 2
    assert "tolerance 0.0001 is below the noise: float32 itself differs by" in result.stderr
    assert "give at least 0." in result.stderr


def test_another_seed_is_refused(searched):
    """Another seed than the study was started with is refused with both, and what was kept stays."""
    folder, _ = searched
    before = (folder / "home" / "small" / "float32.json").read_text()
    result = search(folder, EXPERIMENT, "--seed", "5")
    assert result.returncode == 2
    assert "seed: was 1, is now 5" in result.stderr
    assert (folder / "home" / "small" / "float32.json").read_text() == before
