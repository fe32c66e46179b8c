import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.experiments.home import Home
from halfwise.policies.errors import HalfwiseError, InputError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with the studies digits-001 and digits-002, and a folder that is no study."""
    home = Home(tmp_path / "studies")
    for name in ("digits-002", "digits-001"):
        study = home.study_folder(name)
        study.create()
        study.study_file.write_text("{}")
    (home.path / "artifacts").mkdir()
    return home


def test_option_beats_variable_beats_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """--home comes first, then HALFWISE_HOME, then halfwise-studies in the working folder; all absolute."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HALFWISE_HOME", raising=False)
    assert Home.find().path == tmp_path / "halfwise-studies"
    monkeypatch.setenv("HALFWISE_HOME", "elsewhere")
    assert Home.find().path == tmp_path / "elsewhere"
    assert Home.find("given").path == tmp_path / "given"
    assert Home.find("/somewhere").path == Path("/somewhere")


def test_deleted_working_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where the working folder is gone, the message says so and what to give instead."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.delenv("HALFWISE_HOME", raising=False)
    gone.rmdir()
    with pytest.raises(HalfwiseError, match=r"working folder no longer exists.*--home or HALFWISE_HOME"):
        Home.find()
    assert Home.find("/somewhere").path == Path("/somewhere")


def test_files_of_a_study(home: Home):
    """Every file of a study has the place that the documentation names."""
    study = home.study_folder("digits-001")
    inside = [
        study.study_file,
        study.journal_file,
        study.front_table,
        study.front_figure,
        study.report,
        study.best_policy,
        study.trial_folder(7),
        study.trial_folder(1234),
    ]
    assert [str(path.relative_to(home.path)) for path in inside] == [
        "digits-001/study.json",
        "digits-001/journal.log",
        "digits-001/front.csv",
        "digits-001/front.png",
        "digits-001/report.html",
        "digits-001/best-policy.yaml",
        "digits-001/trials/007",
        "digits-001/trials/1234",
    ]
    assert study.name == "digits-001"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "-x", "a b", "a\n", "ä", "a" * 101, "a\0"]
)
def test_names_that_are_no_folder_names_are_refused(home: Home, name: str):
    """A name that could lead out of the home, hide or look like an option is refused with what is allowed."""
    with pytest.raises(InputError, match=r"1 to 100 letters, digits, '-', '_' or '\.'"):
        home.study_folder(name)


@pytest.mark.parametrize("name", ["artifacts", "mlflow.db", "mlflow.db-wal"])
def test_names_of_the_homes_own_files_are_refused(home: Home, name: str):
    """A study cannot take the place of the MLflow store."""
    with pytest.raises(InputError, match="the home itself uses"):
        home.study_folder(name)


@given(st.text(max_size=120))
def test_accepted_names_stay_directly_inside_the_home(name: str):
    """Whatever the text, its folder is a direct child of the home or the text is refused."""
    home = Home(Path("/home-of-studies"))
    try:
        study = home.study_folder(name)
    except InputError:
        return
    assert Path(os.path.normpath(study.path)).parent == home.path
    assert study.name == name


def test_studies_are_the_folders_with_a_study_file(home: Home):
    """Studies are listed by name; other folders, and a home that does not exist, hold none."""
    assert [study.name for study in home.studies()] == ["digits-001", "digits-002"]
    assert Home(home.path / "nowhere").studies() == ()


def test_unknown_study_names_the_near_ones_and_the_place(home: Home):
    """An unknown study is an error that says where it looked and what comes near."""
    with pytest.raises(InputError, match=r"no study 'digit-001' in .*studies; did you mean 'digits-001'"):
        home.existing_study("digit-001")
    with pytest.raises(InputError, match=r"it holds 'digits-001', 'digits-002'"):
        home.existing_study("zzz")
    with pytest.raises(InputError, match=r"nowhere, which holds no studies"):
        Home(home.path / "nowhere").existing_study("zzz")
    assert home.existing_study("digits-001").path == home.path / "digits-001"


def test_home_that_cannot_be_written_says_what_it_needs(tmp_path: Path):
    """A home below a file, or in a read-only place, is one clear error."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "home", Path("/proc/halfwise")):
        with pytest.raises(HalfwiseError, match=r"cannot write in .*choose one with --home or HALFWISE_HOME"):
            Home(place).prepare()


def test_prepared_home_is_empty(tmp_path: Path):
    """Preparing a home makes the folder and leaves nothing in it."""
    home = Home(tmp_path / "deep" / "home")
    home.prepare()
    assert list(home.path.iterdir()) == []


def test_tracking_uri_quotes_what_a_uri_gives_a_meaning_to():
    """A percent sign or question mark in the path does not change the place of the store."""
    assert Home(Path("/a b/50%?")).tracking_uri == "sqlite:////a b/50%25%3F/mlflow.db"


def test_one_search_at_a_time_holds_a_study(tmp_path):
    """A second search in the same folder is refused by its path, and may start when the first has ended."""
    folder = Home(tmp_path).study_folder("one")
    folder.create()
    refused = pytest.raises(HalfwiseError, match=f"another search is running in {folder.path}")
    with folder.locked(), refused, folder.locked():
        pytest.fail("a second search was let in")
    with folder.locked():
        assert (folder.path / "search.lock").exists()
