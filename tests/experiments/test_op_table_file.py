"""Op tables in a compressed file."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from price_tables import make_device
from site_study import SCALING, chain_table, space_of, survey_of

from halfwise.experiments.op_table_file import load_op_tables, save_op_tables
from halfwise.experiments.site_prices import site_prices
from halfwise.policies.errors import HalfwiseError

LAYERS = "abc"


@settings(max_examples=20, deadline=None)
@given(choices=st.tuples(*[st.integers(0, 1)] * 3))
def test_prices_from_a_kept_table_are_the_same(tmp_path_factory, choices: tuple[int, ...]):
    """Every policy costs the same by a table that was written and read as by the table itself."""
    file = tmp_path_factory.mktemp("tables") / "ops.json.gz"
    tables = {SCALING.label: chain_table(LAYERS)}
    save_op_tables(tables, file)
    both = (tables, load_op_tables(file))
    own, kept = (site_prices(space_of(LAYERS), survey_of(LAYERS), each, make_device()) for each in both)
    assert kept.step_time_s(choices) == own.step_time_s(choices)
    assert kept.costs == own.costs


def test_a_table_is_read_as_it_was_written(tmp_path: Path):
    """Tuples, texts and missing values come back as they were; nothing but the file is left."""
    table = chain_table(LAYERS).reset_index(drop=True)
    save_op_tables({"dynamic": table}, tmp_path / "ops.json.gz")
    assert_frame_equal(load_op_tables(tmp_path / "ops.json.gz")["dynamic"], table, check_dtype=False)
    assert [file.name for file in tmp_path.iterdir()] == ["ops.json.gz"]


@pytest.mark.parametrize("damage", ["missing", "cut", "text"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str):
    """A file that is missing, cut off or something else is one clear error with its path."""
    file = tmp_path / "ops.json.gz"
    if damage != "missing":
        save_op_tables({"dynamic": chain_table(LAYERS)}, file)
        file.write_bytes(file.read_bytes()[:50] if damage == "cut" else b"no table")
    with pytest.raises(HalfwiseError, match=r"cannot read the float32 op tables .*ops\.json\.gz"):
        load_op_tables(file)


def test_a_table_without_a_column_is_refused(tmp_path: Path):
    """What prices need is asked for when the file is read; the column is named."""
    save_op_tables({"dynamic": chain_table(LAYERS).drop(columns="flops")}, tmp_path / "ops.json.gz")
    with pytest.raises(HalfwiseError, match=r"ops\.json\.gz: a row lacks 'flops'"):
        load_op_tables(tmp_path / "ops.json.gz")
