"""An experiment as a study keeps it, and shares as people type them."""

from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.experiments.cli_options import Share
from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.kept_experiment import keep_experiment, kept_experiment
from halfwise.policies.errors import InputError

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "speed": st.sampled_from(["auto", "measured", {"priced": "v100"}]),
    "max_memory": st.none() | st.sampled_from(["16GB", "500MB"]),
    "loss_scaling": st.sampled_from([{"kind": "dynamic", "initial": 1024}, {"kind": "none"}]),
    "precisions": st.none() | st.just(("float32", "float16")),
    "policies": st.dictionaries(st.text(min_size=1, max_size=5), st.just("{default: float16}"), max_size=2),
    "tolerance": st.none() | st.floats(0, 0.5),
    "steps": st.none() | st.integers(1, 99),
    "time_limit": st.none() | st.just("20m"),
    "warm_start": st.none() | st.just("first"),
    "seed": st.integers(0, 99),
}


@given(fields=st.fixed_dictionaries({}, optional=FIELDS))
def test_an_experiment_is_kept_as_it_was_launched(tmp_path_factory, fields: dict[str, Any]):
    """Whatever it says, an experiment is read back from the study's folder equal to the one that was launched."""
    folder = StudyFolder(tmp_path_factory.mktemp("study"))
    experiment = Experiment(workload="mine:make", **fields)
    keep_experiment(experiment, Path("/somewhere"), folder)
    kept = kept_experiment(folder)
    assert kept.experiment == experiment
    assert kept.search_path == Path("/somewhere")


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
