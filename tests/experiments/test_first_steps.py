"""What a newcomer meets: files to begin with, completion of names, and a check of the machine's MLflow store."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from finished_study import add_trial
from program import run_halfwise

from halfwise.experiments.doctor import _store
from halfwise.experiments.home import Home
from halfwise.experiments.starter_files import FILES, write_starter
from halfwise.policies import InputError

halfwise = partial(run_halfwise, timeout_s=280)


def test_the_files_to_begin_with_run_as_they_are(tmp_path: Path):
    """A search of what `init` wrote trains float32 and others well above chance, and ends with a choice."""
    said = halfwise("init", "mine", cwd=tmp_path)
    assert said.returncode == 0
    assert "halfwise search mine/search.yaml" in said.stdout
    asked = ("search", "mine/search.yaml", "--trials", "2", "--no-mlflow", "--quiet", "--format", "json")
    result = halfwise(*asked, "--home", "home", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert [trial["policy"] for trial in found["trials"]] == ["O0", "O1"]
    assert all(trial["quality"] > 0.8 for trial in found["trials"])
    assert found["best"] is not None


@pytest.mark.parametrize("there", sorted(FILES))
def test_nothing_is_overwritten(tmp_path: Path, there: str):
    """Where one of the files is there already none is written, and the message names it; exit code 2."""
    (tmp_path / there).write_text("mine", encoding="utf-8")
    result = halfwise("init", cwd=tmp_path)
    assert result.returncode == 2
    assert f"{there} would be overwritten" in result.stderr
    assert [file.read_text(encoding="utf-8") for file in tmp_path.iterdir()] == ["mine"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    """A file in the way is told with its path."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(Exception, match=r"cannot make the folder .*file"):
        write_starter(tmp_path / "file" / "inside")
    write_starter(tmp_path / "new" / "folder")
    with pytest.raises(InputError, match=r"search\.yaml and .*my_workload\.py would be overwritten"):
        write_starter(tmp_path / "new" / "folder")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with two studies, and a folder whose name could be none."""
    made = Home(tmp_path / "home")
    for name in ("digits", "text"):
        folder = made.study_folder(name)
        add_trial(folder, 0, "O0", 1.0, 0.9)
        folder.study_file.write_text("{}", encoding="utf-8")
    odd = made.path / "digits;rm -rf $HOME"
    odd.mkdir()
    (odd / "study.json").write_text("{}", encoding="utf-8")
    return made


def completed(home: Home, *words: str) -> list[str]:
    """What bash is offered for the last of the words."""
    environment = {
        **os.environ,
        "HALFWISE_HOME": str(home.path),
        "_HALFWISE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("halfwise", *words)),
        "COMP_CWORD": str(len(words)),
    }
    program = str(Path(sys.executable).with_name("halfwise"))
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=True).stdout.split()


def test_names_are_completed(home: Home, tmp_path: Path):
    """Commands, studies of the home, levels, workloads; a file where no policy begins so."""
    assert completed(home, "exp") == ["plain,explain", "plain,export"]
    assert completed(home, "front", "d") == ["plain,digits"]
    assert completed(home, "report", "x") == []
    assert completed(home, "diff", "O2", "O") == ["plain,O0", "plain,O1", "plain,O2", "plain,O3"]
    assert completed(home, "export", "t") == ["plain,text", "file,t"]
    assert completed(home, "check", "pol") == ["file,pol"]
    assert completed(home, "ops", "--workload", "dig") == ["plain,digits-resnet"]
    assert completed(Home(tmp_path / "nowhere"), "front", "d") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(shell: str, tmp_path: Path):
    """The printed script is one that the shell itself can parse, where it is installed."""
    script = halfwise("completion", shell, cwd=tmp_path).stdout
    assert "_HALFWISE_COMPLETE" in script
    if program := shutil.which(shell):
        flag = "--no-execute" if shell == "fish" else "-n"
        subprocess.run([program, flag], input=script, text=True, check=True)


def test_the_doctor_says_what_is_wrong_with_a_store(tmp_path: Path):
    """No file yet is well; a file that is no database, a server that is away and a bare folder are not."""
    fresh = _store(f"sqlite:///{tmp_path / 'new.db'}")
    assert (fresh.well, "a database that the first search will make" in fresh.text) == (True, True)
    assert not (tmp_path / "new.db").exists()
    (tmp_path / "bad.db").write_bytes(b"no database" * 200)
    bad = _store(f"sqlite:///{tmp_path / 'bad.db'}")
    assert (bad.well, "file is not a database" in bad.text) == (False, True)
    away = _store("http://me:secret@127.0.0.1:9")
    assert (away.well, "Connection refused" in away.text, "secret" in away.text) == (False, True, False)
    assert "--tracking-uri" in away.remedy
    assert not _store(str(tmp_path)).well


def test_the_doctor_looks_at_a_store_that_is_there(tmp_path: Path):
    """A locked database is named as such, in seconds."""
    path = tmp_path / "mlflow.db"
    with sqlite3.connect(path, isolation_level=None) as database:
        database.execute("CREATE TABLE t (x)")
        database.execute("BEGIN EXCLUSIVE")
        found = _store(f"sqlite:///{path}")
        assert (found.well, "locked" in found.text) == (False, True)
