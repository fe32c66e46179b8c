"""Every op belongs to the right layer, though the graph's own names lie for repeated blocks."""

import re
from collections import Counter

import pandas as pd

# What layers may truly have in common (1 - mask is computed once for all) or lack at the ends of a chain.
NOT_IN_EVERY_BLOCK = {"AddN", "Sub", "Muls", "Reshape", "Cast"}


def computing(table: pd.DataFrame) -> pd.DataFrame:
    """Forward and gradient ops of the network, without casts."""
    rows = table[table["direction"].isin(["forward", "gradient"]) & table["layer"].notna()]
    return rows[~rows["is_cast"].astype(bool)]


def per_block(table: pd.DataFrame, blocks: list[str]) -> dict[str, Counter]:
    """How often each (direction, layer below the block, op) occurs in each block."""
    counts = {block: Counter() for block in blocks}
    for row in computing(table).itertuples():
        for block in blocks:
            if row.layer == block or row.layer.startswith(f"{block}."):
                counts[block][row.direction, row.layer[len(block) :], row.graph_op] += 1
    return counts


def test_three_identical_blocks_hold_the_same_ops(compiled):
    """Functions that MindSpore compiles once for all three blocks are counted in each of them."""
    counts = per_block(compiled("blocks").table, ["a", "b", "c"])
    for direction in ("forward", "gradient"):
        of_a, of_b, of_c = (
            {key: n for key, n in counts[block].items() if key[0] == direction and key[2] != "AddN"}
            for block in "abc"
        )
        # The first block's input needs no gradient.
        of_a[direction, ".up", "MatMul"] = of_b[direction, ".up", "MatMul"]
        assert of_a == of_b == of_c
    assert counts["b"]["forward", "", "Softmax"] == 1
    assert counts["b"]["forward", ".gelu", "GeLU"] == 1
    assert counts["b"]["gradient", ".gelu", "GeLUGrad"] == 1


def test_only_the_middle_block_computes_low(compiled):
    """With float16 for the middle block, exactly its forward and gradient ops are float16, functions included."""
    for row in computing(compiled("blocks").table).itertuples():
        if row.layer_certain and row.compute_precision:
            in_middle = row.layer == "b" or row.layer.startswith("b.")
            # Movement ops follow their data: a transposed value may be low outside of the block.
            if row.graph_op != "Transpose":
                assert row.compute_precision == ("float16" if in_middle else "float32"), row


def test_a_cell_that_is_called_twice_has_both_calls(compiled):
    """Each of three ReLUs that are called twice has two forward and two gradient ops."""
    table = computing(compiled("called-twice").table)
    forward, gradient = (Counter(table["layer"][table["graph_op"] == op]) for op in ("ReLU", "ReluGrad"))
    assert forward == {f"body.{number}.relu": 2 for number in range(3)}
    # The network's input needs no gradient, and so the very first call has none.
    assert gradient == forward - Counter(["body.0.relu"])


def test_twelve_identical_layers_hold_the_same_ops(compiled):
    """In a CellList of twelve encoder layers, every layer has the ops that its class writes."""
    table = compiled("encoder").table
    blocks = [f"layers.{number}" for number in range(12)]
    counts = per_block(table, blocks)
    kept = [{key: n for key, n in counts[block].items() if key[2] not in NOT_IN_EVERY_BLOCK} for block in blocks]
    assert all(other == kept[0] for other in kept[1:])
    assert kept[0]["forward", "", "Softmax"] == 1
    assert kept[0]["forward", "", "Erf"] == 1
    assert kept[0]["forward", "", "MatMulExt"] == 2
    assert kept[0]["gradient", "", "MatMulExt"] == 4


def test_parameters_stand_in_their_own_layer(compiled):
    """An op that takes a layer's Parameter in the forward pass belongs to that layer."""
    for name in ("blocks", "encoder", "functions-first"):
        for row in compiled(name).table.itertuples():
            if row.direction == "forward" and row.parameters and row.layer_certain:
                assert {parameter.rpartition(".")[0] for parameter in row.parameters} == {row.layer}


def test_function_before_the_first_layer_of_a_block(compiled):
    """A softmax at the start of each block is its block's, though nothing but the next layer tells."""
    table = compiled("functions-first").table
    softmax = table[table["graph_op"] == "Softmax"]
    assert list(softmax["layer"]) == ["chain.0", "chain.1", "chain.2", "chain.3"]
    assert softmax["layer_certain"].all()
    backward = table[table["graph_op"] == "SoftmaxBackward"]
    assert list(backward["layer"]) == ["chain.3", "chain.2", "chain.1"]


def test_shared_cell_is_one_layer(compiled):
    """A Cell under two names has all its ops, of both uses, under its first name."""
    table = compiled("shared").table
    layers = set(table["layer"].dropna())
    assert "first" in layers
    assert "second" not in layers
    products = computing(table)[lambda t: (t["layer"] == "first") & (t["graph_op"] == "MatMul")]
    assert list(products["direction"]).count("forward") == 2
    # The first use's input is data, which needs no gradient.
    assert list(products["direction"]).count("gradient") == 3


def test_branch_on_a_value(compiled):
    """Ops on both sides of a branch are in the table, with their producers and their gradients' forward ops."""
    table = compiled("shared").table
    scaled = table[(table["graph_op"] == "Muls") & (table["layer"] == "")]
    forward = scaled[scaled["direction"] == "forward"]
    backward = scaled[scaled["direction"] == "gradient"]
    assert len(forward) == len(backward) == 2
    assert set(backward["forward_id"]) == set(forward["id"])
    concat = table[table["graph_op"] == "Concat"].iloc[0]
    assert set(forward["id"]) <= set(concat["producers"])


def test_outside_of_the_network(compiled):
    """Loss, loss scaling and optimizer have no layer and say what they are."""
    table = compiled("blocks").table
    outside = table[table["direction"].isin(["loss", "scaling", "update"])]
    assert outside["layer"].isna().all()
    directions = dict(zip(outside["graph_op"], outside["direction"], strict=True))
    assert directions["SparseSoftmaxCrossEntropyWithLogits"] == "loss"
    assert directions["IsFinite"] == "scaling"
    assert directions["ApplyMomentum"] == "update"
    inside = table[table["layer"].notna()]["layer"]
    assert not any(re.search("optimizer|loss", layer) for layer in inside)


def test_only_shared_ops_are_uncertain(compiled):
    """What is marked uncertain was merged or made by the framework: casts, sums of gradients, one 1 - mask."""
    for name in ("blocks", "encoder", "functions-first", "shared"):
        table = compiled(name).table
        uncertain = table[~table["layer_certain"].astype(bool)]
        assert len(uncertain) <= 0.03 * len(table)
        assert set(uncertain["graph_op"]) <= NOT_IN_EVERY_BLOCK | {"Transpose"}
