"""Stacks of source positions from which a Cell's own frame is missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.evidence.ir_text import Position
from halfwise.evaluators.evidence.lost_frames import LostFrame, lost_frame
from halfwise.policies import CellOutline, NetworkOutline

PATHS = ("", "blocks", "blocks.0", "blocks.1", "first", "blocks.0.norm")
OUTLINE = NetworkOutline(
    tuple(CellOutline(path, ("again",) if path == "first" else (), ("Cell",)) for path in PATHS)
)
ADD = Position("gen_ops_def.py", 2155, "0~31", "def add(input, other):")
SOFTMAX = Position("nn_func.py", 10, "0~31", "def softmax(input, axis=-1):")


def position(expression: str, number: int = 0) -> Position:
    """An expression of a line of the Cell with that number."""
    line = f"        x = {expression}"
    return Position(f"halfwise-layers/{number}/model.py", 7, f"12~{12 + len(expression.encode())}", line)


@pytest.mark.parametrize(
    ("expression", "following", "found"),
    [
        ("self.blocks[0](x)", ADD, LostFrame("blocks.0")),
        ("self.blocks[0](self.first(x))", ADD, LostFrame("blocks.0")),
        ("self.again(x)", ADD, LostFrame("first")),
        ("self.blocks[i](x)", ADD, LostFrame(None)),
        ("block(x)", ADD, LostFrame(None)),
        ("block.norm(x)", ADD, LostFrame(None)),
        ("self.first(x)", None, LostFrame("first")),
        ("self.blocks[0](", ADD, LostFrame("blocks.0")),
        ("x + self.blocks[0](y)", ADD, None),
        ("x + y", ADD, None),
        ("ops.softmax(x)", SOFTMAX, None),
        ("softmax(x)", SOFTMAX, None),
        ("self.mixed(x)", ADD, None),
        ("x.swapaxes(0, 1)", ADD, None),
        ("self.first", ADD, None),
    ],
)
def test_calls_that_lost_their_frame(expression, following, found):
    """A call of a Cell that a function of another name follows lost its frame; functions and operators did not."""
    stack = [position(expression), *([following] if following else [])]
    assert lost_frame(stack, OUTLINE) == found


def test_the_cell_that_calls_is_the_innermost():
    """`self.norm` of the marked block is the block's own, though the network calls the block before."""
    stack = [position("self.blocks[0](x)"), position("self.norm(x)", 2), ADD]
    assert lost_frame(stack, OUTLINE) == LostFrame("blocks.0.norm")


def test_a_helper_that_calls_a_cell():
    """A frame lost below a function of the user's own is found as well."""
    helper = Position("helper.py", 3, "0~9", "def run(block, x):")
    call = Position("helper.py", 4, "11~19", "    return block(x)")
    assert lost_frame([position("run(self.first, x)"), helper, call, ADD], OUTLINE) == LostFrame(None)


@given(
    st.text(max_size=30),
    st.one_of(st.just(""), st.builds("{}~{}".format, st.integers(0, 40), st.integers(0, 40))),
    st.sampled_from([0, 2, 5]),
)
def test_any_source_text_is_read(code, columns, number):
    """Whatever stands at a position, the answer is nothing or a Cell of the network."""
    frame = Position(f"halfwise-layers/{number}/model.py", 1, columns, code)
    found = lost_frame([frame, ADD], OUTLINE)
    assert found is None or found.cell is None or found.cell in PATHS


@given(st.lists(st.builds(Position, st.just("model.py"), st.integers(1, 9), st.just("4~9"), st.text(max_size=20))))
def test_nothing_outside_of_the_network(stack):
    """A stack without a mark lost no Cell's frame."""
    assert lost_frame(stack, OUTLINE) is None
