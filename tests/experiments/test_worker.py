"""Which workers a study turns away, and what it tells them; nothing is trained."""

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest
from finished_study import study_info
from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.json_file import write_json
from halfwise.experiments.experiment_file import load_experiment
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.joining import Application, run_worker
from halfwise.experiments.kept_experiment import keep_experiment
from halfwise.experiments.looked_at import LookedAt, keep_look
from halfwise.experiments.progress import Lines
from halfwise.experiments.study_file import StudyFile
from halfwise.experiments.workload_source import keep_source, read_source
from halfwise.policies.errors import HalfwiseError, InputError

CPU = DeviceFacts("CPU", ("float16",), {"bfloat16": "MatMul: no kernel"}, reference_convolution=False)
VERSIONS = {name: importlib.metadata.version(name) for name in ("mindspore", "halfwise")}
EXPERIMENT = "schema: halfwise/experiment/1\nworkload: work:make\nsampler: random\nseed: 3\n"


def begun(path: Path, versions: dict[str, str]) -> StudyFolder:
    """A study that a search has begun, with its experiment file and workload in `path`."""
    (path / "work.py").write_text("x = 1\n", encoding="utf-8")
    (path / "small.yaml").write_text(EXPERIMENT, encoding="utf-8")
    folder = Home(path / "home").study_folder("small")
    folder.create()
    experiment = load_experiment(path / "small.yaml", {"storage": "postgresql://me:s3cr3t@db/x", "workers": 2})
    keep_experiment(experiment, path, folder)
    keep_source(read_source("work:make", path), folder)
    keep_look(CPU, make_survey(), folder)
    write_json(StudyFile(info=study_info(folder, versions=versions)), folder.study_file)
    return folder


def apply(path: Path, **changes: Any) -> None:
    """A worker of that folder; a name that is none ends it where all else is well."""
    application: dict[str, Any] = {
        "study": "small",
        "home": Home(path / "home"),
        "search_path": path,
        "name": "../x",
    }
    run_worker(Application(**application | changes), Lines(print))


def test_another_version_is_refused(tmp_path: Path) -> None:
    """Both versions are named."""
    begun(tmp_path, {**VERSIONS, "mindspore": "2.9.0"})
    with pytest.raises(InputError, match=r"mindspore: the study's is 2\.9\.0, this worker's is"):
        apply(tmp_path)


def test_another_experiment_is_refused_with_what_differs(tmp_path: Path) -> None:
    """Only what the trials are like counts, not how many are made, where, or under which name."""
    begun(tmp_path, VERSIONS)
    ours = tmp_path / "ours.yaml"
    ours.write_text(EXPERIMENT + "study: other\ntrials: 99\nworkers: 7\npatience: 3\n", encoding="utf-8")
    with pytest.raises(InputError, match="a worker's name is"):
        apply(tmp_path, experiment=ours)
    ours.write_text(EXPERIMENT.replace("seed: 3", "seed: 4") + "steps: 12\n", encoding="utf-8")
    with pytest.raises(InputError, match="seed: was 3, is now 4; steps: was None, is now 12"):
        apply(tmp_path, experiment=ours)
    ours.write_text(EXPERIMENT + 'policies: {mine: \'{"default": "float16"}\'}\n', encoding="utf-8")
    with pytest.raises(InputError, match="the fixed policies differ"):
        apply(tmp_path, experiment=ours)


@pytest.mark.parametrize("name", ["../x", "", ".", "a/b", "-x", "a" * 101, "a\n"])
def test_a_name_that_could_be_a_path_is_refused(tmp_path: Path, name: str) -> None:
    """A worker's folder has its name; an empty one is none at all, and made up."""
    begun(tmp_path, VERSIONS)
    before = sorted(tmp_path.rglob("*"))
    (tmp_path / "work.py").write_text("x = 2\n", encoding="utf-8")
    # Whatever the name is, another workload is refused first.
    with pytest.raises(InputError, match="is not the one that the study was started with"):
        apply(tmp_path, name=name)
    (tmp_path / "work.py").write_text("x = 1\n", encoding="utf-8")
    if name:
        with pytest.raises(InputError, match="a worker's name is 1 to 100 letters"):
            apply(tmp_path, name=name)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_kept_of_the_experiment_names_no_storage(tmp_path: Path) -> None:
    """A password in a file that is handed on would be everybody's."""
    folder = begun(tmp_path, VERSIONS)
    assert "s3cr3t" not in folder.experiment_file.read_text(encoding="utf-8")


def test_a_device_of_another_kind_is_refused() -> None:
    """So is one that does not compute what the study tries; one that computes more is taken for what it tries."""
    looked = LookedAt(device=CPU, survey=make_survey(), machine="")
    gpu = DeviceFacts("GPU", ("float16", "bfloat16"), {}, reference_convolution=False, device_id=1)
    with pytest.raises(InputError, match="the study trains on CPU, and this machine on GPU"):
        looked.on(gpu)
    less = DeviceFacts("CPU", (), {"float16": "MatMul: no kernel"}, reference_convolution=False)
    with pytest.raises(InputError, match="tries float16, which CPU does not compute here: MatMul: no kernel"):
        looked.on(less)
    more = DeviceFacts("CPU", ("float16", "bfloat16"), {}, reference_convolution=True)
    assert looked.on(more).low_precisions == ("float16",)
    assert looked.on(more).reference_convolution


def test_a_study_that_is_not_whole_is_no_study(tmp_path: Path) -> None:
    """What it lacks is named."""
    folder = begun(tmp_path, VERSIONS)
    folder.workload_file.unlink()
    with pytest.raises(HalfwiseError, match=r"cannot read .*workload\.json"):
        apply(tmp_path)
