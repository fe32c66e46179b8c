"""Files that somebody else made: whatever they hold, they are read or refused, and nothing else happens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from program import SUPPORT

from halfwise.experiments.experiment_file import load_experiment, named_policies
from halfwise.policies import InputError

KINDS = ["policy", "text", "experiment", "devices", "outcome", "tables"]

# Found on Python's path first; to import it is to be caught.
TRAP = "open('canary', 'w').close()\nclass Harm: pass\n"


def read_many(kind: str, examples: int, place: Path) -> str:
    """What a process said that read so many hostile files of a kind; it must leave nothing in its folder."""
    folder = place / "files"
    folder.mkdir()
    (folder / "hostile_module.py").write_text(TRAP)
    done = subprocess.run(
        [sys.executable, "-B", SUPPORT / "watched_reading.py", kind, str(examples), folder],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": f"{SUPPORT}:{folder}", "HYPOTHESIS_STORAGE_DIRECTORY": str(place / "hypothesis")},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert {file.name for file in folder.iterdir()} == {"hostile_module.py", "file"}
    return done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_file_is_read_or_refused(kind: str, tmp_path: Path):
    """A hundred files of each kind: a value or one of our errors; no other file, code or process is touched."""
    assert "refused" in read_many(kind, 100, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_hostile_files_are_read_or_refused(kind: str, tmp_path: Path):
    """The same with a thousand: some are still right, most are refused."""
    read, refused = (int(part.split()[0]) for part in read_many(kind, 1000, tmp_path).split(", "))
    assert read > 0
    assert refused > 500


def test_the_watch_sees_what_it_forbids(tmp_path: Path):
    """Each forbidden deed, done while something is read, is named: the tests above could fail."""
    program = """
import os, sys, pathlib
from watched_reading import Watch
file = pathlib.Path(sys.argv[1]) / "file"
file.write_text("a: 1")
watch = Watch(file)
def seen(deed):
    try:
        with watch.watching():
            deed()
    except AssertionError:
        return True
    return False
import subprocess, socket, pickle
class Evil:
    def __reduce__(self):
        return os.getcwd, ()
data = pickle.dumps(Evil())
deeds = [lambda: eval("1"), lambda: exec("1"), lambda: __import__("hostile_module"), lambda: pickle.loads(data),
    lambda: subprocess.run(["true"]), lambda: os.system("true"), lambda: open(file, "a"), lambda: open(__file__),
    lambda: os.open(file, os.O_RDWR), lambda: socket.socket().bind(("127.0.0.1", 0)), lambda: os.mkdir("d")]
print([seen(deed) for deed in deeds], seen(lambda: open(file).read()), seen(lambda: file.read_bytes()))
"""
    (tmp_path / "hostile_module.py").write_text("")
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SUPPORT)},
        check=False,
    )
    assert done.stdout == f"{[True] * 11} False False\n", done.stderr


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (r'policies: {"\e[2J": O1}', r"a policy's name is 1 to 100 printable characters, but got '\\x1b\[2J'"),
        (f"policies: {{{'x' * 101}: O1}}", "a policy's name is 1 to 100 printable characters"),
        ('policies: {"": O1}', "a policy's name is 1 to 100 printable characters"),
        (f"max_memory: {'9' * 400}", "must be a size above 0"),
        (f"time_limit: {'9' * 400}h", "must be a time above 0"),
        (f"trials: {'9' * 400}", "trials: must be"),
        ("study: &a x", "anchors and aliases are not allowed"),
    ],
)
def test_a_field_that_would_do_harm_later_is_refused(tmp_path: Path, field: str, words: str):
    """Names that no list could show, and numbers that no computer holds, are refused with their place."""
    file = tmp_path / "e.yaml"
    file.write_text(f"schema: halfwise/experiment/1\nworkload: digits-resnet\n{field}\n")
    with pytest.raises(InputError, match=rf"e\.yaml:3:\d+: .*{words}"):
        load_experiment(file, {})


@pytest.mark.parametrize("path", ["/dev/zero", "pipe", "../../../../../../etc/hostname", "."])
def test_a_policy_that_an_experiment_names_is_a_policy_file_or_refused(tmp_path: Path, path: str):
    """A path in an experiment file is only read, and only if it is a plain file that holds a policy."""
    os.mkfifo(tmp_path / "pipe")
    file = tmp_path / "e.yaml"
    file.write_text(f"schema: halfwise/experiment/1\nworkload: digits-resnet\npolicies: {{mine: {path}}}\n")
    with pytest.raises(InputError, match=r"cannot be read|is required|must be a mapping"):
        named_policies(load_experiment(file, {}), tmp_path)
