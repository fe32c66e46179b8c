"""An experiment as a study keeps it, and shares as people type them."""

from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.experiments.cli_options import Share
from halfwise.experiments.experiment_file import WHERE_AND_WHO, Experiment
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.kept_experiment import keep_experiment, kept_experiment
from halfwise.policies import parse_policy
from halfwise.policies.errors import InputError

NAMES = st.text(min_size=1, max_size=5).filter(str.isprintable)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "speed": st.sampled_from(["auto", "measured", {"priced": "v100"}]),
    "max_memory": st.none() | st.sampled_from(["16GB", "500MB"]),
    "loss_scaling": st.sampled_from([{"kind": "dynamic", "initial": 1024}, {"kind": "none"}]),
    "precisions": st.none() | st.just(("float32", "float16")),
    "policies": st.dictionaries(NAMES, st.sampled_from(["{default: float16}", "mine.yaml"]), max_size=2),
    "tolerance": st.none() | st.floats(0, 0.5),
    "steps": st.none() | st.integers(1, 99),
    "time_limit": st.none() | st.just("20m"),
    "warm_start": st.none() | st.just("first"),
    "seed": st.integers(0, 99),
    "storage": st.none() | st.just("postgresql://me:secret@host/db"),
    "workers": st.none() | st.just(3),
    "devices": st.none() | st.just((0, 1, 2)),
}


@given(fields=st.fixed_dictionaries({}, optional=FIELDS))
def test_an_experiment_is_kept_as_it_was_launched(tmp_path_factory, fields: dict[str, Any]):
    """Equal to the one that was launched, policies as texts, but for where it is stored and who works on it."""
    folder = StudyFolder(tmp_path_factory.mktemp("study"))
    (folder.path / "mine.yaml").write_text("schema: halfwise/policy/1\ndefault: float16\n", encoding="utf-8")
    experiment = Experiment(workload="mine:make", **fields)
    keep_experiment(experiment, folder.path, folder)
    (folder.path / "mine.yaml").unlink()
    kept = kept_experiment(folder)
    texts = dict.fromkeys(experiment.policies, str(parse_policy("{default: float16}")))
    nobody = dict.fromkeys(WHERE_AND_WHO)
    assert kept.experiment == experiment.model_copy(update={"policies": texts, **nobody})
    assert kept.search_path == folder.path
    assert "secret" not in folder.experiment_file.read_text(encoding="utf-8")


def test_a_study_without_its_experiment_says_how_to_get_it(tmp_path: Path):
    """A study that was started before experiments were kept is told to start again, which trains nothing."""
    with pytest.raises(InputError, match=r"study old does not hold its experiment \(experiment\.json\)"):
        kept_experiment(StudyFolder(tmp_path / "old"))


@given(share=st.floats(0, 0.99))
def test_a_share_may_be_typed_in_percent(share: float):
    """A number and the same in percent are one share."""
    assert Share().convert(str(share), None, None) == share
    assert Share().convert(f"{share * 100!r}%", None, None) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "half", "1", "100%", "-1%", "nan", "inf", "5 %%"])
def test_what_is_no_share_is_refused(text: str):
    """A text, a loss of everything or of less than nothing is refused with what is allowed."""
    with pytest.raises(click.BadParameter, match=r"at least 0 and below 1, such as 0\.005 or 0\.5%"):
        Share().convert(text, None, None)
