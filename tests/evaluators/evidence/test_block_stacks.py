"""Ops of blocks of one class are their own block's, whatever the blocks hold and however they are called.

The blocks are a chain, so their forward ops in the order of the data are the blocks' ops, one block after another:
that is the truth that each row is compared with.
"""

from graphlib import TopologicalSorter
from itertools import product
from typing import Any

import pytest
from fresh_process import in_fresh_process

# What one block of a class computes, in the order of the data: (op, layer below the block).
WRITTEN = {
    "Product": [("MatMul", "")],
    "Residual": [("MatMul", ""), ("Add", "")],
    "Bounded": [("MatMul", ""), ("Tanh", "")],
    "Plain": [("Tanh", ""), ("Add", "")],
    "Weighing": [("Sin", ""), ("Softmax", ""), ("Add", "")],
    "Nested": [("MatMul", ".dense"), ("BiasAdd", ".dense"), ("Add", "")],
}
WAYS = ("ByLoop", "ByIndex", "ByNesting", "Sequential")
Case = tuple[str, str, int, str]
FEW: list[Case] = [
    ("ByIndex", "Residual", 3, ""),
    ("ByIndex", "Residual", 3, "blocks.1"),
    ("ByNesting", "Weighing", 3, ""),
    ("ByLoop", "Residual", 2, ""),
    ("ByLoop", "Bounded", 3, "blocks.1"),
    ("Sequential", "Residual", 3, "blocks.1"),
]
OTHERS: list[Case] = [
    ("Between", "Residual", 2, ""),
    ("Tied", "Product", 3, ""),
    ("ByLoop", "Residual", 1, ""),
]
Row = dict[str, Any]


def rows_of(cases: list[Case]) -> list[list[Row]]:
    """The forward and gradient rows of each case, all compiled in one fresh process."""
    return in_fresh_process("block_stacks:rows_of", cases=cases)


def in_data_order(rows: list[Row]) -> list[Row]:
    """The forward rows without casts: in a chain each comes after what it takes."""
    forward = {row["id"]: row for row in rows if row["direction"] == "forward"}
    taken = {n: [p for p in row["producers"] if p in forward] for n, row in forward.items()}
    order = TopologicalSorter(taken).static_order()
    return [forward[n] for n in order if not forward[n]["is_cast"]]


def expected(block: str, number: int) -> list[tuple[str, str]]:
    """(op, layer) of the first Dense and of every block behind it."""
    below = [(op, f"blocks.{n}{layer}") for n in range(number) for op, layer in WRITTEN[block]]
    return [("MatMul", "first"), ("BiasAdd", "first"), *below]


def check(case: Case, rows: list[Row]) -> None:
    """Each forward row, and each gradient row by its forward op, has its own layer and is certain of it."""
    _, block, number, low = case
    forward = in_data_order(rows)
    assert [(row["op"], row["layer"]) for row in forward] == expected(block, number), case
    assert all(row["layer_certain"] for row in forward), case
    layers = {row["id"]: row["layer"] for row in forward}
    back = [row for row in rows if row["direction"] == "gradient" and row["forward_id"] in layers]
    assert {row["forward_id"] for row in back} >= {row["id"] for row in forward if row["op"] != "Add"}, case
    for row in back:
        assert (row["layer"], row["layer_certain"]) == (layers[row["forward_id"]], True), (case, row)
    for row in [*forward, *back]:
        # Transposed values follow their data, and may be low outside of the block.
        if row["op"] != "Transpose" and not row["is_cast"]:
            in_low = low and f"{row['layer']}.".startswith(f"{low}.")
            assert row["compute_precision"] == ("float16" if in_low else "float32"), (case, row)


@pytest.fixture(scope="module")
def stacks() -> dict[Case, list[Row]]:
    """The rows of the cases that run by default."""
    cases = [*FEW, *OTHERS]
    return dict(zip(cases, rows_of(cases), strict=True))


@pytest.mark.parametrize("case", FEW)
def test_every_row_of_some_stacks(case, stacks):
    """By index, loop, nesting and SequentialCell, in float32 and one block low, no row is misplaced."""
    check(case, stacks[case])


def test_the_same_ops_in_the_network_itself(stacks):
    """What the network computes between two blocks is the network's own, though each block does the same."""
    forward = in_data_order(stacks["Between", "Residual", 2, ""])
    owners = ["first", "first", "blocks.0", "blocks.0", "", "", "blocks.1", "blocks.1"]
    assert [row["layer"] for row in forward] == owners
    assert all(row["layer_certain"] for row in forward)


@pytest.mark.full
@pytest.mark.parametrize("block", WRITTEN)
def test_every_row_of_every_stack(block):
    """The same for two and three blocks of every class, called in every way, with each block low in turn."""
    cases = [
        (way, block, number, low)
        for way, number in product(WAYS, (2, 3))
        for low in ("", *(f"blocks.{n}" for n in range(number)))
        if number == 3 or way in ("ByLoop", "Sequential")
    ]
    for case, rows in zip(cases, rows_of(cases), strict=True):
        check(case, rows)


def test_a_parameter_of_two_blocks_is_uncertain(stacks):
    """An op with another block's Parameter belongs to the block that its stack names, but not for certain."""
    products = [row for row in in_data_order(stacks["Tied", "Product", 3, ""]) if row["op"] == "MatMul"]
    assert [(row["layer"], row["layer_certain"]) for row in products] == [
        ("first", True),
        ("blocks.0", True),
        ("blocks.1", True),
        ("blocks.2", False),
    ]


def test_a_lone_block(stacks):
    """A block that no other can be compared with has its own ops, whether that is certain or not."""
    layers = [row["layer"] for row in in_data_order(stacks["ByLoop", "Residual", 1, ""])]
    assert layers == ["first", "first", "blocks.0", "blocks.0"]
