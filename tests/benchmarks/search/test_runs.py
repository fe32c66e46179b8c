from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.search.tables.runs import Journal, Network, Run
from halfwise.policies.errors import InputError
from halfwise.search.propose.cost_model import CostModel, Site

NETWORK = Network(
    name="two",
    workload="somewhere:make_two",
    steps=50,
    mindspore_version="2.10.0",
    costs=CostModel(1.0, tuple(Site(name, ("float32", "float16"), (1.0, 0.5)) for name in "ab")),
    chances={"a": 0.1, "b": 0.9},
    sensitivity_trials=1.2,
)
RUNS = (
    Run(choices=(0, 0), seed=0, step_time_s=3.0, quality=0.9, cause=None),
    Run(choices=(0, 0), seed=1, step_time_s=3.0, quality=0.8, cause=None),
    Run(
        choices=(0, 1),
        seed=0,
        step_time_s=2.5,
        quality=None,
        cause="non-finite at step 0",
        blamed=frozenset({1}),
        diagnosis_steps=1,
    ),
)


def journal(path: Path) -> Journal:
    """All runs, written one after the other."""
    written = Journal(path, NETWORK)
    for run in RUNS:
        written.add(run)
    return written


def test_a_journal_goes_on_where_it_stood(tmp_path: Path):
    """Opened again it holds every run; a policy's runs come by seed, and what was not trained is not there."""
    journal(tmp_path / "new" / "two.jsonl")
    again = Journal(tmp_path / "new" / "two.jsonl", NETWORK)
    assert again.of((0, 0)) == RUNS[:2]
    assert again.find((0, 1), 0) == RUNS[2]
    assert again.find((0, 1), 1) is None
    assert len(again) == 3


@given(st.integers(1, 10_000))
def test_half_a_line_is_dropped_and_trained_again(tmp_path_factory: pytest.TempPathFactory, bytes_lost: int):
    """However much of the end is lost, whole lines stay, and what is added then is read back."""
    path = tmp_path_factory.mktemp("journal") / "two.jsonl"
    journal(path)
    content = path.read_bytes()
    left = content[: max(0, len(content) - bytes_lost)]
    path.write_bytes(left)
    kept = max(0, left.count(b"\n") - 1)
    cut = Journal(path, NETWORK)
    assert len(cut) == kept
    cut.add(RUNS[2])
    assert Journal(path, NETWORK).find((0, 1), 0) == RUNS[2]
    assert len(Journal(path, NETWORK)) == min(kept, 2) + 1


def test_a_journal_of_another_network_is_refused(tmp_path: Path):
    """Other steps, or other prices, are another network: its trainings say nothing of this one."""
    journal(tmp_path / "two.jsonl")
    for change in ({"steps": 60}, {"costs": CostModel(2.0, NETWORK.costs.sites)}):
        with pytest.raises(InputError, match=r"two\.jsonl was begun with another network"):
            Journal(tmp_path / "two.jsonl", NETWORK.model_copy(update=change))


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path):
    """Lines that hold something else are refused with the path, and the file stays as it is."""
    for content in (b"notes\n", NETWORK.model_dump_json().encode() + b"\n{}\n"):
        (tmp_path / "x.jsonl").write_bytes(content)
        with pytest.raises(InputError, match=r"x\.jsonl holds no trainings of a table"):
            Journal(tmp_path / "x.jsonl", NETWORK)
        assert (tmp_path / "x.jsonl").read_bytes() == content
