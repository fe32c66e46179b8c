"""Marks in the source positions of a network's ops."""

import json

import pytest

from halfwise.evaluators.evidence import unmarked
from halfwise.evaluators.evidence.layer_marks import layer_number


def test_marks_change_no_output(dumps):
    """A network computes bit for bit what it did before when it is marked, and when the marks are gone again."""
    assert json.loads((dumps / "same-outputs.json").read_text(encoding="utf-8")) == [True, True, True]


def test_each_cell_has_a_mark_that_reads_as_its_source(compiled):
    """Every Cell's mark is a link to the file that its class stands in."""
    step = compiled("blocks")
    marks = {int(mark.parent.name): mark for mark in (step.folder / "halfwise-layers").glob("*/*")}
    assert sorted(marks) == list(range(len(step.outline.cells)))
    by_path = {cell.path: marks[number] for number, cell in enumerate(step.outline.cells)}
    assert by_path["b"].name == "compile_steps.py"
    assert "class Block(nn.Cell)" in by_path["b"].read_text(encoding="utf-8")
    assert by_path["b.up"].resolve().name == by_path["c.up"].resolve().name == "basic.py"


@pytest.mark.parametrize(
    ("file", "number"),
    [
        ("/tmp/a b/halfwise-layers/12/model.py", 12),
        ("halfwise-layers/0/model.py", 0),
        ("/home/me/model.py", None),
        ("/home/me/halfwise-layers/model.py", None),
    ],
)
def test_number_in_a_file_name(file, number):
    """The number of the Cell is read from the folder, and other files have none."""
    assert layer_number(file) == number


def test_messages_name_the_users_files(tmp_path):
    """In a message of the compiler the user's own file stands again, also below a folder with a blank."""
    source = tmp_path / "my model.py"
    source.write_text("x = 1", encoding="utf-8")
    mark = tmp_path / "a trial" / "halfwise-layers" / "3" / "my_model.py"
    mark.parent.mkdir(parents=True)
    mark.symlink_to(source)
    message = f"In file {mark}:7, 11~25\n        return x"
    assert unmarked(message, tmp_path / "a trial") == f"In file {source}:7, 11~25\n        return x"
