"""A search that is interrupted, or that runs out of disk."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_disk import fill, read_only, small_disk

from halfwise.policies import load_policy

SUPPORT = Path(__file__).parents[1] / "support"
PROGRAM = Path(sys.executable).with_name("halfwise")


def write_experiment(folder: Path, trials: int) -> Path:
    """An experiment on the tiny workload."""
    (folder / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    file = folder / "tiny.yaml"
    file.write_text(
        "schema: halfwise/experiment/1\nworkload: tiny_workloads:make_tiny\n"
        f"trials: {trials}\nsteps: 20\nsampler: random\nconfirm: none\n",
        encoding="utf-8",
    )
    return file


def started(tmp_path: Path, file: Path, home: Path) -> subprocess.Popen[str]:
    """A search of an experiment, without MLflow."""
    command = [PROGRAM, "search", str(file), "--home", str(home), "--no-mlflow"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)


def outcomes(study: Path) -> dict[Path, bytes]:
    """What the finished trials wrote."""
    return {file: file.read_bytes() for file in study.glob("trials/*/outcome.json")}


def assert_says_why(search: subprocess.Popen[str], stderr: str, words: str) -> None:
    """The search ended with an error: its reason, that what finished is kept, how to go on, and no traceback."""
    assert search.returncode == 1
    assert words in stderr.lower()
    assert "everything that finished is kept: start the same command again to go on" in stderr
    assert "Traceback" not in stderr


def assert_goes_on(search: subprocess.Popen[str], study: Path, found: dict[Path, bytes]) -> None:
    """The search started again ends well, with all that was found before and five trials in all."""
    _, stderr = search.communicate(timeout=120)
    assert search.returncode == 0, stderr
    assert found.items() <= outcomes(study).items()
    assert len(outcomes(study)) == 5


def await_outcomes(study: Path, least: int) -> dict[Path, bytes]:
    """The outcomes once there are so many, three minutes at most."""
    deadline = time.monotonic() + 180
    while len(outcomes(study)) < least and time.monotonic() < deadline:
        time.sleep(0.05)
    found = outcomes(study)
    assert len(found) >= least
    return found


@pytest.mark.full
@pytest.mark.parametrize(
    ("signals", "code", "words"),
    [
        ([signal.SIGINT], 130, "stopped by Ctrl-C"),
        ([signal.SIGTERM, signal.SIGTERM], 143, "stopped by SIGTERM"),
        ([signal.SIGHUP], 129, "stopped by SIGHUP: its terminal was closed"),
    ],
)
def test_a_stopped_search_keeps_what_it_found(tmp_path, signals, code, words):
    """The finished trials, the front and the best policy are there, and the same command goes on."""
    file, study = write_experiment(tmp_path, trials=5), tmp_path / "home" / "tiny"
    search = started(tmp_path, file, tmp_path / "home")
    await_outcomes(study, 2)
    for number in signals:
        search.send_signal(number)
        time.sleep(0.05)
    _, stderr = search.communicate(timeout=60)
    assert search.returncode == code
    assert f"halfwise: {words}; everything that finished is kept: start the same command again to go on" in stderr
    assert "Traceback" not in stderr
    found = outcomes(study)
    assert load_policy(study / "best-policy.yaml").results["study"] == "tiny"
    again = started(tmp_path, file, tmp_path / "home")
    again.communicate(timeout=120)
    assert again.returncode == 0
    assert found.items() <= outcomes(study).items()
    assert len(outcomes(study)) == 5
    assert (study / "front.csv").read_text().count("\n") == 6


@pytest.mark.full
def test_a_search_whose_disk_fills_up(tmp_path):
    """It ends with the reason; all that finished can be read, nothing is half written, and it goes on later."""
    with small_disk(tmp_path / "disk", 16 << 20) as disk:
        file, study = write_experiment(tmp_path, trials=5), disk / "home" / "tiny"
        search = started(tmp_path, file, disk / "home")
        await_outcomes(study, 2)
        filler = fill(disk)
        while search.poll() is None:
            fill(disk)
            time.sleep(0.02)
        _, stderr = search.communicate()
        assert_says_why(search, stderr, "no space")
        found = outcomes(study)
        assert {json.loads(text)["status"] for text in found.values()} <= {"trained", "infeasible"}
        assert list(study.rglob(".*.part*")) == []
        filler.unlink()
        assert_goes_on(started(tmp_path, file, disk / "home"), study, found)


@pytest.mark.full
def test_a_search_whose_folder_becomes_read_only(tmp_path):
    """It ends with the reason, and goes on once the folder can be written to again."""
    file, study = write_experiment(tmp_path, trials=5), tmp_path / "home" / "tiny"
    search = started(tmp_path, file, tmp_path / "home")
    found = await_outcomes(study, 2)
    with read_only(study):
        _, stderr = search.communicate(timeout=60)
    assert_says_why(search, stderr, "read-only")
    assert found.items() <= outcomes(study).items()
    assert_goes_on(started(tmp_path, file, tmp_path / "home"), study, found)


@pytest.mark.full
def test_a_search_whose_folder_is_deleted(tmp_path):
    """It ends with one clear error, and does not make half of the folder anew."""
    file, study = write_experiment(tmp_path, trials=5), tmp_path / "home" / "tiny"
    search = started(tmp_path, file, tmp_path / "home")
    await_outcomes(study, 2)
    study.rename(tmp_path / "moved")
    _, stderr = search.communicate(timeout=60)
    assert search.returncode == 1
    assert str(study) in stderr
    assert "Traceback" not in stderr
    assert not study.exists()
    (tmp_path / "moved").rename(study)
    again = started(tmp_path, file, tmp_path / "home")
    again.communicate(timeout=120)
    assert again.returncode == 0
    assert len(outcomes(study)) == 5
