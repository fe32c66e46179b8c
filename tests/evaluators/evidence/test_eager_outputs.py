"""What hooks see in PyNative mode, and the partial table that is made of it."""

from collections import defaultdict

import pytest
from fresh_process import in_fresh_process


@pytest.fixture(scope="module")
def tables():
    """Every known layer in a compiled table and in a partial one, all in float16."""
    return in_fresh_process("eager_jobs:both_tables", policy="{default: float16}")


def test_watching_changes_nothing_and_leaves_nothing():
    """Losses, Parameters and statistics are those of an unwatched training bit for bit; no hook stays."""
    policy = "{default: float16, layers: {batch_norm: float32}}"
    plain, watched = (
        in_fresh_process("eager_jobs:train_statistics", policy=policy, watched=watched)
        for watched in (False, True)
    )
    assert watched.pop("seen") == ["first", "batch_norm", "second", ""]
    assert plain.pop("seen") == []
    assert watched == plain
    assert watched["hooks"] == 0


def test_nested_values_named_arguments_and_repeated_calls_are_seen():
    """Each call is one row: every tensor that goes in, by name too, and that comes out; nothing afterwards."""
    *calls, after = in_fresh_process("eager_jobs:calls_of_nested")
    assert after == {"after": 0}
    assert [call["layer"] for call in calls] == ["inner", "inner", "relu", "relu", ""]
    inner = calls[0]
    assert (inner["inputs"], inner["outputs"]) == (["Float32", "Float16"], ["Float32", "Int32"])
    assert [call["one"] for call in calls] == [False, False, True, True, True]
    # 4 points of two float32 values, and one float16 number.
    assert inner["read"] == 4 * 2 * 4 + 2


def test_code_that_casts_is_told_from_code_that_does_not():
    """A Cell whose own code casts is marked, and whatever holds it; MindSpore's own layers are not."""
    *calls, _ = in_fresh_process("eager_jobs:calls_of_nested")
    assert {call["layer"]: call["casts"] for call in calls} == {"inner": True, "relu": False, "": True}


def test_flops_of_known_layers_are_those_of_the_compiled_step(tables):
    """For each of MindSpore's layers with known ops, FLOPs equal the sum over its ops in the compiled table."""
    compiled = defaultdict(int)
    for layer, _, flops, _ in tables["graph"]:
        compiled[layer] += flops
    seen = {layer: flops for layer, flops, _ in tables["seen"] if flops is not None}
    assert seen == dict(compiled)
    assert len(seen) == 31


def test_what_known_layers_give_is_decided_by_their_last_op(tables):
    """All of them are compared with the policy and match; a user's Cell and a container are not compared."""
    evidence = tables["evidence"]
    assert (evidence["ops_matched"], evidence["mismatches"]) == (31, [])
    assert {precision for *_, precision in tables["seen"]} == {"float16"}


def test_partial_table_has_the_columns_of_an_op_table(tables):
    """Whatever reads op tables can read a partial one."""
    assert tables["columns"][0] == tables["columns"][1]


def test_partial_evidence_says_what_it_is(tables):
    """The summary begins with the word, counts what was seen, and ends with why there is no graph."""
    assert tables["evidence"]["partial"]
    assert tables["evidence"]["summary"] == (
        "partial: in PyNative 33 of 33 Cell calls gave low precision; the policy decides 31, all as asked; "
        "graph mode cannot compile this step: on purpose"
    )


def test_an_op_of_the_black_list_decides_what_its_layer_gives():
    """With BiasAdd and LayerNorm kept float32, such layers give float32, and that is as asked."""
    policy = "{default: float16, ops: {black_list: [BiasAdd, LayerNorm]}}"
    found = in_fresh_process("eager_jobs:both_tables", policy=policy)
    given = {layer: precision for layer, _, precision in found["seen"]}
    assert (given["dense"], given["plain_dense"], given["layer_norm"]) == ("float32", "float16", "float32")
    assert (found["evidence"]["ops_matched"], found["evidence"]["mismatches"]) == (31, [])
