"""Which texts a workload is made of, and what is said where they have changed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.experiments.workload_source import WorkloadSource, read_source, refuse_other_source
from halfwise.policies.errors import InputError

TEXTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4)


def write(folder: Path, texts: dict[str, str]) -> None:
    """Files by their paths."""
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def test_the_module_and_what_it_imports_from_beside_it(tmp_path: Path) -> None:
    """Neighbours of neighbours, packages with their __init__, relative imports, imports inside functions."""
    used = {
        "box/__init__.py": "",
        "box/deep.py": "",
        "box/inner.py": "from . import deep\nfrom .more import x\n",
        "box/more.py": "import work\n",
        "box/other.py": "",
        "near.py": "from box import other\n",
        "work.py": "import json, numpy\nimport near\ndef make():\n    from box.inner import thing\n",
    }
    write(tmp_path, {**used, "unused.py": ""})
    assert read_source("work:make", tmp_path).files == used


def test_nothing_is_run_for_it(tmp_path: Path) -> None:
    """A module that would end the process, and one that is no Python at all, are read like any other."""
    write(tmp_path, {"work.py": "import broken\nraise SystemExit\n", "broken.py": "def (:\n"})
    assert read_source("work:make", tmp_path).names == ["broken.py", "work.py"]


def test_what_no_file_holds_has_no_texts(tmp_path: Path) -> None:
    """Versions tell a workload of halfwise's own apart; one that is not found is for its loader to refuse."""
    builtin = read_source("digits-resnet", tmp_path)
    assert builtin.files == {}
    assert builtin.reference == "halfwise.experiments.workloads.digits_resnet:make_workload"
    assert read_source("nowhere_to_be_found:make", tmp_path).files == {}


def test_of_an_installed_package_only_itself(tmp_path: Path) -> None:
    """What stands beside it is none of the user's."""
    names = read_source("yaml:make", tmp_path).names
    assert "yaml/__init__.py" in names
    assert all(name.startswith("yaml/") for name in names)


@given(TEXTS, TEXTS)
def test_equal_texts_have_equal_digests_and_others_do_not(one: dict[str, str], other: dict[str, str]) -> None:
    """Neither their order nor where a text ends and the next name begins plays a part."""
    first, second = (WorkloadSource(reference="a:b", files=files) for files in (one, other))
    assert (first.digest == second.digest) == (one == other)
    assert first.digest == WorkloadSource(reference="a:b", files=dict(reversed(one.items()))).digest


def test_another_version_is_refused_with_the_difference(tmp_path: Path) -> None:
    """The first lines of a unified diff, and how many more there are."""
    write(tmp_path, {"work.py": "rate = 0.1\nsteps = 3\n"})
    before = read_source("work:make", tmp_path)
    refuse_other_source(before, before)
    write(tmp_path, {"work.py": "rate = 0.2\nsteps = 3\n" + "more = 1\n" * 40})
    with pytest.raises(InputError) as refused:
        refuse_other_source(before, read_source("work:make", tmp_path))
    lines = str(refused.value).splitlines()
    assert lines[0].endswith("bring the study's version here:")
    assert lines[1:] == [
        "--- work.py (the study's)",
        "+++ work.py (this one)",
        "@@ -1,2 +1,42 @@",
        "-rate = 0.1",
        "+rate = 0.2",
        " steps = 3",
        *["+more = 1"] * 6,
        "... 34 more lines",
    ]


def test_another_workload_is_refused_by_its_name() -> None:
    """There is no use in a diff."""
    with pytest.raises(InputError, match="the study's workload is a:make, but this one is b:make"):
        refuse_other_source(WorkloadSource(reference="a:make"), WorkloadSource(reference="b:make"))
